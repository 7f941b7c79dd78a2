"""boards.py REPORT: how well a Hubo's simulated boards are locked, by robotsim report --json.

Prints a line for each joint board that has references, and a last one for all: boards locked, replies that boards never
sent because their process stood still, and frames that it dropped.
"""
import json
import sys

units = json.load(open(sys.argv[1], encoding="ascii"))["units"]
boards = [unit for unit in units if unit.get("references")]
for board in boards:
    words = ("lock", "locks", "losses", "phase_us", "phase_rms_us", "phase_max_us", "ripple", "ripple_max", "held")
    print(board["name"], *(f"{word} {board[word]}" for word in words))
locked = sum(board["lock"] == "yes" for board in boards)
print(f"all boards {len(boards)} locked {locked} unsent {sum(unit.get('lost', 0) for unit in units)} "
      f"dropped {sum(unit.get('dropped', 0) for unit in units)}")
