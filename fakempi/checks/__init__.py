"""What is wrong with a program: reports for people, made from plain records."""
