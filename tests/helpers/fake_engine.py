"""A GTP program that misbehaves as its first argument says. The tests run it; it is no test itself."""

# ruff: noqa: T201 - a program prints

from __future__ import annotations

import signal
import subprocess
import sys
import time

COMMANDS = ["protocol_version", "name", "list_commands", "quit", "boardsize", "clear_board", "komi", "play", "undo"]
COMMANDS += [
    "genmove",
    "final_score",
    "final_status_list",
    "list_stones",
    "set_free_handicap",
    "time_settings",
    "time_left",
]


def say(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


def genmove(how: str, command_id: str, answers: list[str]) -> str:
    """The answer to genmove, if there is one."""
    if how == "crash":
        print("first line of woe\nlast line of woe", file=sys.stderr, flush=True)
        sys.exit(3)
    if how in ("hang", "stubborn", "parent"):
        time.sleep(1000)
    if how in ("flood", "endless"):
        say(f"={command_id} \n" if how == "endless" else "")
        while True:
            say("bla bla\n" * 1000)
    if how == "half":
        say("= C")
        sys.exit(0)
    if how == "slow":
        time.sleep(0.3)
    if how == "wrong-id":
        say("=99999 C3\n\n")
        time.sleep(1000)
    return answers.pop(0) if answers else "pass"


def main(how: str, log: str, *answers: str) -> None:
    moves = list(answers)
    if how == "stubborn":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if how == "parent":
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(1000)"])
        print(f"child {child.pid}", file=sys.stderr, flush=True)
    if how == "banner":
        say("Welcome to the fake engine!\n\n=== ready ===\n=0 left over\n\n")
    if how == "dead":
        sys.exit("cannot find my weights")
    for line in sys.stdin:
        command_id, name, *arguments = line.split()
        with open(log, "a") as file:  # noqa: PTH123
            file.write(" ".join([name, *arguments]) + "\n")
        if name == "quit" and how == "stubborn":
            continue
        known = [command for command in COMMANDS if how != "untimed" or not command.startswith("time")]
        answer = {"list_commands": "\n".join(known), "name": "fake"}.get(name, "")
        if name == "genmove":
            answer = genmove(how, command_id, moves)
        elif (how, name) in (("refuse", "play"), ("refuse-time", "time_settings")):
            say(f"?{command_id} {'illegal move' if name == 'play' else 'no such clock'}\n\n")
            continue
        elif name in ("final_score", "final_status_list", "list_stones"):
            answer = moves.pop(0) if moves else ""
        head = "=" if how == "no-id" else f"={command_id}"
        say(f"{head} {answer}\r\n\r\n" if how == "crlf" else f"{head} {answer}\n\n")
        if name == "quit":
            return
    if how == "stubborn":
        time.sleep(1000)  # though nobody is there any more


if __name__ == "__main__":
    main(*sys.argv[1:])
