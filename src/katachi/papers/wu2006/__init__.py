"""Wu and Baldi 2006: a recursive network learns on small boards who will own each point, and judges large ones."""
