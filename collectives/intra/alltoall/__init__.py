"""Everybody ends with what each had for it: block s of rank r comes from rank s, where it was block r."""
