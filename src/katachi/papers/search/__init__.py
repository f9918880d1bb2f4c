"""What tree search is worth: by simulations, by parts, against GNU Go, as a ladder of levels, and with slow
priors.
"""
