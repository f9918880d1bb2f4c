"""Every English text that the browser shows, so that another language is another file like this one."""

from __future__ import annotations

from typing import Final

# Who may come in
NO_TOKEN: Final = (
    "This board is for who started it.\n\nOpen the address that katachi serve has printed: it ends in ?token=…\n"
)
WRONG_HOST: Final = "This server is not called that. Use the address that katachi serve has printed.\n"
WRONG_ORIGIN: Final = "Another site's page may not talk to this board.\n"
TOO_LARGE: Final = "This file is too large: a record may have 16 MB."

# At the table
OCCUPIED: Final = "There is a stone already."
KO: Final = "That would retake the ko at once; play somewhere else first."
SUPERKO: Final = "That would repeat an earlier position."
SUICIDE: Final = "That stone would have no liberties."
NO_LIBERTIES: Final = "These stones cannot stand like that: a chain would have no liberties."
NOTHING_TO_UNDO: Final = "There is nothing to take back here."
COUNT_FIRST: Final = "The board is being counted: accept the count, or play on."
NOTHING_TO_REDO: Final = "There is nothing that was undone here."
NOT_FINISHED: Final = "This game is not over."
NO_COUNT: Final = "The board is not being counted."
NOT_YOUR_TURN: Final = "It is not your turn."
NO_TABLE: Final = "There is no such game of yours."
DAMAGED_TABLE: Final = "This game cannot be read any more: {reason}"
TOO_MANY_TABLES: Final = "You have {most} games already: delete some of them first."
PLAYER_GONE: Final = "{player} is not available here; start katachi serve with it."
WRONG_SIZE: Final = "{player} plays on {size}×{size} alone."
PLAYER_FAILED: Final = "{player} could not move: {reason}"
ENGINE_STOPPED: Final = "its process has ended ({how}). Your game is as it was"
EXIT_STATUS: Final = "exit status {code}"
NOT_SAVED: Final = "The game could not be written to disk: {reason}"
UNREADABLE: Final = "This file cannot be opened: {reason}"
NO_GAME: Final = "there is no game in it"
LEFT_OUT: Final = (
    "Not everything in this file can be opened here: of a large collection only the first {most} games are read, and "
    "no damaged ones. Cut it into smaller files for the others."
)
YOU: Final = "you"

# All pages
PLAY_PAGE: Final = "Play"
THEME: Final = "Light or dark"
SORRY: Final = "That did not work"
BACK: Final = "Back to the first page"
COLORS: Final = {1: "Black", -1: "White"}

# The first page
WELCOME: Final = "A game of Go?"
NEW_GAME: Final = "New game"
OPPONENT: Final = "Opponent"
BOARD: Final = "Board"
PLAY_BLACK: Final = "You play Black"
PLAY_WHITE: Final = "You play White"
MORE_SETTINGS: Final = "Handicap, komi, rules, clock"
HANDICAP: Final = "Handicap"
KOMI: Final = "Komi"
RULES: Final = "Rules"
CLOCK: Final = "Clock"
TIME_KINDS: Final = {
    "none": "No clock",
    "absolute": "One time for all",
    "byoyomi": "Byo-yomi periods",
    "fischer": "Time for every move (Fischer)",
}
MINUTES: Final = "Minutes"
SECONDS: Final = "Seconds"
PERIODS: Final = "Periods"
BEGIN: Final = "Begin"
LEVEL: Final = "level {number}"
LEVEL_OF: Final = "Level {number} of 10"
BEGINNER: Final = "Beginner"
ABOUT_RANK: Final = "About {rank}"
STRONGEST_PLAYER: Final = "As strong as it can"
LABORATORY: Final = "Laboratory: also list research players"
LABORATORY_MORE: Final = "One idea of a paper each. Most of them read no variations, and lose to the levels."
OR_PLAY: Final = "Or put a stone on the board."
ALL_GAMES: Final = "All {count} games"
GAMES_PAGE: Final = "Games"
FIND: Final = "Find a game: a name, a result, a date"
NOTHING_FOUND: Final = "No game has these words."
REVIEWED: Final = "reviewed"
RECORDS: Final = "Records and positions"
DROP: Final = "Drop an SGF file, or press +"
FETCH: Final = "Or a web address"
OPEN: Final = "Open"
FETCHING: Final = "Your browser fetches the record …"
NOT_FETCHED: Final = "Your browser may not read that file from here. Save it, and drop it on the first page."
EMPTY_BOARD: Final = "Empty board"
WHICH_GAME: Final = "There are several games in this file. Which one?"
YOUR_GAMES: Final = "Your games"
NO_GAMES_YET: Final = "None yet. A game is kept after every move."
MOVES: Final = "{count} moves"
DELETE: Final = "Delete this game"

# The page of a table
PASS: Final = "Pass"
UNDO: Final = "Undo"
REDO: Final = "Redo"
HINT: Final = "Hint"
HINT_IS: Final = "{move} looks best."
ESTIMATE: Final = "Estimate"
ESTIMATE_IS: Final = "{said} Black owns about {black} points, White {white} and {komi} komi."
ABOUT_EVEN: Final = "About even."
AHEAD: Final = "{color} is ahead by about {lead}."
RESIGN: Final = "Resign"
REOPEN: Final = "Play on from here"
ASK_RESIGN: Final = "Resign this game?"
ASK_REOPEN: Final = "Play on from here? The game has no result then until it ends again."
ASK_NEW_RESULT: Final = "This record says {result}. Put the count in its place?"
ASK_DELETE_BRANCH: Final = "Delete this move and everything that follows it?"
ASK_DELETE: Final = "Delete this game? It cannot be brought back."
CANCEL: Final = "Cancel"
SOUND: Final = "Sound"
MOTION: Final = "Animation"
TEACH_MODE: Final = "Teach me"
TEACH_MODE_MORE: Final = "Stops at a blunder, shows what was better, and lets you take it back"
BLUNDER: Final = "Wait: that looks like a blunder."
WHAT_NOW: Final = "Take it back, or play on?"
TAKE_BACK: Final = "Take it back"
KEEP_MOVE: Final = "Play on"
PASSED: Final = "{color} passes. {what}"
GAME_OVER: Final = "The game is over"
REVIEW_NOW: Final = "Review now"
REMATCH: Final = "Rematch"
TALLY: Final = {"stones": "stones", "territory": "territory", "prisoners": "prisoners", "komi": "komi"}
COUNT: Final = "Count"
ACCEPT: Final = "Accept the count"
PLAY_ON: Final = "Play on"
ASK_AGAIN: Final = "Ask again"
NUMBERS: Final = "Move numbers"
COORDINATES: Final = "Coordinates"
CAPTURED: Final = "{count} captured"
ESTIMATING: Final = "Looking which stones are dead …"
COUNTING: Final = "{result}. Click on stones that are dead, or not dead after all."
STILL_OPEN: Final = " {count} points are nobody’s: play on to close the borders."
THINKING: Final = "{player} is thinking …"
PREPARING: Final = "Preparing the engine …"
COMPILING: Final = "Preparing the engine: it is compiled, once …"
WAITING: Final = "It is the player’s turn."
TO_PLAY: Final = "{color} to play"
YOUR_TURN: Final = "Your turn: {what}"
DRAW: Final = "A draw"
WINS_BY_POINTS: Final = "{color} wins by {margin}"
WINS: Final = {
    "R": "{color} wins by resignation",
    "T": "{color} wins on time",
    "F": "{color} wins by forfeit",
    "": "{color} wins",
    "score": "{color} wins",
}
KEYS: Final = "Keys"
KEY_LIST: Final = {
    "← →": "Back, on",
    "↑ ↓": "To the variation beside this one",
    "Page ↑ ↓": "Ten moves back, on",
    "Home End": "To the beginning, to the end",
    "Shift ← ↑ → ↓": "Move a cursor over the board",
    "Enter": "Play where the cursor is",
    "P": "Pass",
    "U R": "Undo, redo",
    "H": "Hint",
    "T": "Estimate the territory",
    "M B": "To the next mistake of a review, to the one before",
    "Esc": "Leave a variation of the review",
    "N": "Move numbers",
    "E": "Edit",
}
SPOKEN_EMPTY: Final = "{size} board, no move yet"
SPOKEN: Final = "{size} board, move {number}: {color} {vertex}"

# The record
SAVE_SGF: Final = "Save as SGF"
SAVE_PICTURE: Final = "Save as picture"
COPY_LINK: Final = "Copy a link"
LINK_COPIED: Final = "The link is copied: it holds the whole game."
KOMI_OF: Final = "komi {komi}"
HANDICAP_OF: Final = "{count} handicap stones"
TREE: Final = "Moves and variations"
MOVES_NAV: Final = "moves"
WAYS: Final = {"first": "To the beginning", "back": "Back", "forward": "On", "last": "To the end"}
REPAIRS: Final = "This file needed {count} repairs"
CANNOT_GO_ABOUT: Final = "Not now: the game is not over."
EDIT_STEP: Final = "edit"

# The editor
EDITOR: Final = "Edit"
CLOSE_EDITOR: Final = "Close the editor"
TOOLS: Final = {
    "PLAY": "Play moves",
    "BLACK": "Put black stones",
    "WHITE": "Put white stones",
    "ERASE": "Take stones off",
    "TRIANGLE": "Triangles",
    "SQUARE": "Squares",
    "CIRCLE": "Circles",
    "CROSS": "Crosses",
    "LABEL": "Letters",
}
DELETE_BRANCH: Final = "Delete from here on"
BLACK_TO_PLAY: Final = "Black to play"
WHITE_TO_PLAY: Final = "White to play"
COMMENT: Final = "Comment"

# Layers and review
LAYERS: Final = "Show on the board"
ANALYST: Final = "Analysed by"
RANK_SLIDER: Final = "Rank of the players"
RANK: Final = "What {rank} players would play"
LOOKING: Final = "Looking …"
NOTHING_TO_SHOW: Final = "Nothing to show here: whoever analyses has no opinion of that kind."
REVIEW: Final = "Review the game"
REVIEW_AGAIN: Final = "Review again"
REVIEW_TITLE: Final = "Review"
STOP_REVIEW: Final = "Stop the review"
FIRST_LOOK: Final = "A first look …"
SECOND_LOOK: Final = "A closer look: {done} of {all} positions"
TIME_LEFT: Final = ", about {time} left"
SECONDS_LEFT: Final = "{count} s"
MINUTES_LEFT: Final = "{count} min"
NEXT_MISTAKE: Final = "Next mistake"
MISTAKE_BEFORE: Final = "The mistake before"
NO_MISTAKES: Final = "No sure mistake was found."
NO_REVIEW: Final = "Review the game first."
NO_MISTAKE: Final = "{color} {move}: no sure mistake."
NOT_YET: Final = "Nothing can be said of this move yet: it had a first look only."
OFF_THE_GAME: Final = "This is a variation; the review is of the game."
GO_TO_A_MISTAKE: Final = "Go to a mistake: press M, or choose one below."
MISTAKE: Final = "{number} {move}"
PLAYED: Final = "Played: {move}"
BETTER: Final = "Better: {move}"
STEP_BACK: Final = "A step back"
STEP_ON: Final = "A step on"
POINT: Final = "{amount} point"
POINTS: Final = "{amount} points"
PERCENT: Final = "{amount} %"
GIVES_AWAY: Final = "gives away {what}"
AS_GOOD_AS_ANY: Final = "as good as any"
NUMBERS_BEHIND: Final = "Numbers"
SAVE_ANALYZED: Final = "Save as SGF with the review"
GRAPH: Final = "Win rate of Black and score, move by move"
GRAPH_LEGEND: Final = ("Black’s win rate", "score")

# Models
MODELS_PAGE: Final = "Models"
MODELS_LEAD: Final = "Four ways to learn Go. Each model is a board to try it on, with what it has learned below."
FOUR_WAYS: Final = "One position, seen in four ways"
FOUR_WAYS_MORE: Final = "Put a stone on any of the boards, black and white in turn, and watch what changes on all."
LEARNED_SHAPES: Final = (
    "Every small pattern of stones has a weight, learned by playing against itself; their sum says who wins."
)
LEARNED_MOVES: Final = "A deep network has seen which moves people play. Ask it for beginners, or for the strongest."
LEARNED_TERRITORY: Final = (
    "A network that hands messages across the board has learned from finished games who owns each point."
)
LEARNED_FEATURES: Final = (
    "Features of boards that nobody named were found first; playing against itself then weighed them."
)
BY_RANK: Final = "Moves of a"
LEARNED: Final = "What {name} has learned"
NO_MODEL: Final = "There is no such model here."
CURVES: Final = "How it learned"
PLAY_MODEL: Final = "Play against it"
TRY: Final = "Try it"
TRY_MORE: Final = "Put stones, black and white in turn: it shows what it makes of them."
CLEAR: Final = "Clear the board"

# Runs
RUNS_PAGE: Final = "Runs"
RUNS_LEAD: Final = "Trainings and matches in the folder of runs. Those that are running are followed live."
NO_RUNS: Final = "Nothing yet: katachi train and katachi match write their runs there."
NO_RUN: Final = "There is no such run here."
MATCH: Final = "match"
TRAINING: Final = "training"
SCORE: Final = "{name}: {wins} of {games} games"

PLAYER_OF_RUN: Final = "What {name} has learned so far"
COMPARE: Final = "Compare with"

# Puzzles
PUZZLES_PAGE: Final = "Puzzles"
PUZZLES_TITLE: Final = "Find the better move"
NO_PUZZLES: Final = "Puzzles are made of mistakes in your own games. Review a game first."
PUZZLES_WAY: Final = "Your games"
PUZZLE_TASK: Final = "{color} to play ({number} of {all})"
PUZZLE_RIGHT: Final = "Right: {move} is as good as any."
PUZZLE_WRONG: Final = "{move} gives away {what}. Look again."
PUZZLE_PLAYED: Final = "{move} was played in the game: it lost {what}."
PUZZLE_UNKNOWN: Final = "{move} was not among the moves that were looked into. Look again."
PUZZLE_HINT: Final = "Not {move}, which was played. Look {where}."
PUZZLE_SHOW: Final = "Show it"
PUZZLE_NEXT: Final = "Next"
PUZZLE_GAME: Final = "The game that this is from"

# Teaching
LIVE: Final = "What it plays now"
LIVE_LATER: Final = "It plays here against itself as soon as it has learned something."
LIVE_MORE: Final = (
    "It plays against itself. Blue: its shapes there speak for Black; crimson: for White. "
    "Numbers: how often it believes to win after a move there, in percent."
)
SPEED: Final = "Speed"
LEARN_PAGE: Final = "Teach"
LEARN_TITLE: Final = "Teach a pupil"
TEACH: Final = "Begin the lesson"
STOP: Final = "Stop"
PLAY_PUPIL: Final = "Play against it now"
PUPIL: Final = "What you have taught here"
STRONGEST: Final = "The shapes it cares most about"
WINS_AGAINST_ALP: Final = "wins against alp"
LESSON_BEGINS: Final = "The lesson begins …"
LESSON_SO_FAR: Final = "{games:,} games; it wins {wins} % against alp"
LESSON_OVER: Final = "Done: {what}"
LESSON_FAILED: Final = "The lesson ended: {reason}"
