"""territory"""
