"""Files that people exchange: mutants of each kind end in a result or in a sentence, and never run code.

kinds       the kinds of files, valid examples of each that the product's writers made, and the commands that read them
mutation    random changes of bytes, numbers, lines and JSON values
archives    random changes of .npz files
watching    an audit hook that reports what no file may cause: code, programs, connections, access to other files
limits      runs commands in a child process with limits on CPU time and memory, and measures them
"""
