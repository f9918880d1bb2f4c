"""Largman and Pham: features of a convolutional RBM for TD learning, as a protocol that can be run again."""
