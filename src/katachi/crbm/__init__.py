"""crbm"""
