"""A katachi dataset in torch: game records become batches of planes and moves in a DataLoader.

The example makes its own records, imports them, and trains a small network for an epoch. Your records come in the
same way: ``katachi data import games/ --out my-games``, then ``Dataset.open("my-games")``.

Run it with: python examples/dataset_in_torch.py [GAMES]       (about half a minute; needs torch)
"""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader
from torch.utils.data import Dataset as TorchDataset

from katachi import game_to_sgf, play_match
from katachi.data.batches import Batches
from katachi.data.dataset import Dataset
from katachi.data.importing import import_games
from katachi.policy.planes import PLANES

SIZE = 7


class Positions(TorchDataset[tuple[Tensor, Tensor]]):
    """One epoch of batches: planes [B, C, n, n], and the points [B] that were played there.

    Batch k is computed when it is asked for, each position in one of its eight symmetries.
    """

    def __init__(self, batches: Batches) -> None:
        self._batches = batches

    def __len__(self) -> int:
        return self._batches.epoch // self._batches.batch

    def __getitem__(self, number: int) -> tuple[Tensor, Tensor]:
        batch = self._batches[number]
        return torch.from_numpy(batch.planes).float(), torch.from_numpy(batch.moves)


def make_dataset(folder: Path, games: int) -> Dataset:
    for number, played in enumerate(play_match("alp", "influence", games=games, size=SIZE, random_plies=6).games):
        (folder / f"{number}.sgf").write_text(game_to_sgf(played.game), encoding="utf-8")
    return import_games([folder], folder / "dataset")


def main(games: int) -> None:
    torch.manual_seed(1)
    planes = PLANES["maddison-9"]
    with TemporaryDirectory() as folder:
        positions = Positions(Batches(make_dataset(Path(folder), games), planes, batch=32))
        loader = DataLoader(positions, batch_size=None, shuffle=True)  # positions come in batches already
        network = nn.Sequential(nn.Conv2d(planes.count, 32, 5, padding=2), nn.ReLU(), nn.Conv2d(32, 1, 1), nn.Flatten())
        optimizer = torch.optim.Adam(network.parameters(), lr=1e-2)
        for number, (inputs, moves) in enumerate(loader):
            loss = nn.functional.cross_entropy(network(inputs), moves)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            if number % max(1, len(loader) // 8) == 0:
                print(f"batch {number:4} of {len(loader)}: planes {list(inputs.shape)}, loss {loss.item():.3f}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 50)
