"""Silver, Sutton and Müller, *Reinforcement learning of local shape in the game of Go* (IJCAI 2007), remade."""
