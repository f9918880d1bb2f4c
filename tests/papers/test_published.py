"""The pages of papers against what the papers publish, and what is said of bundled networks against their cards."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from katachi.core.models import open_model, pretrained_models
from katachi.papers.documents import format_document
from katachi.papers.experiment import load_experiment, read_results

ROOT = Path(__file__).parents[2]
PUBLISHED = {  # typed from the papers, by the place where it stands there
    "wu2006": {"section 4": [281, 194, 15, 50]},
    "largman2010": {"section 3.1": [5145, 5184], "section 4.1": [85.7, 110]},
    "maddison2014": {
        "section 4": ["2.3 million", "630 million", "550,000"],
        "section 5.1": [43.3, 44.3, 49.6, 49.4],
        "section 5.2": [37.5, 48.0, 51.2, 54.5, 55.2, 94.0, 3.4, 61.8, 84.4, 94.7, 97.2],
        "section 6": [86.7, 67.6],
    },
}


def published(name: str) -> list[object]:
    return [value for values in PUBLISHED[name].values() for value in values]


@pytest.fixture(scope="module", params=PUBLISHED)
def page(request, tmp_path_factory):
    """A paper, its results, and the page that is made from them."""
    name = request.param
    results = read_results(ROOT / "docs" / name)
    experiment = load_experiment(name)
    return name, results, experiment, format_document(experiment, results, tmp_path_factory.mktemp(name))


def test_the_papers_column_has_what_the_paper_publishes(page):
    name, results, experiment, _ = page
    known = published(name)
    for row in experiment.rows(results):
        assert row.published is None or row.published in known, (row.id, row.published)


def test_columns_of_the_paper_in_tables_have_nothing_else(page):
    name, _, _, text = page
    known = {value if isinstance(value, str) else f"{value:g}" for value in published(name)}
    cells = []
    for part in re.findall(r"(?:^\|.*\n)+", text, flags=re.MULTILINE):
        header, _, *lines = ([cell.strip() for cell in line.strip("|").split("|")] for line in part.splitlines())
        places = [place for place, title in enumerate(header) if place and title.startswith("paper")]
        cells += [line[place] for line in lines for place in places]
    values = {re.split(" ± | \\(", cell.replace(",", ""))[0] for cell in cells} - {"", "–"}
    known |= {value.replace(",", "") for value in known}
    assert values
    assert {f"{float(value):g}" if re.fullmatch(r"[\d.]+", value) else value for value in values} <= known


def test_the_page_is_made_from_its_results(page):
    name, _, _, text = page
    assert (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8") == text


def test_the_same_moves_have_one_number():
    results = read_results(ROOT / "docs" / "wu2006")
    asked = zip(results["table2"]["nets"], results["table2"]["boards"]["19"]["asked"], strict=True)
    by_title = {net["title"]: found for net, found in asked}
    shared = [net for net in results["figure2b"]["nets"] if net["title"] in by_title]
    assert len(shared) == 3
    assert all(net["asked"]["80"] == by_title[net["title"]] for net in shared)


def test_networks_of_results_that_have_the_name_of_a_bundled_one_are_it():
    """Else there are two accuracies of one name: a network that was replaced is called a former one."""
    cards = {f"`{path.name}`": open_model(path).card for path in pretrained_models()}

    def walk(value):
        if isinstance(value, dict):
            if value.get("title") in cards and value.get("positions"):
                assert value["positions"] == cards[value["title"]].training.all_positions, value["title"]
            for each in value.values():
                walk(each)
        elif isinstance(value, list):
            for each in value:
                walk(each)

    for file in ROOT.glob("docs/*/results.json"):
        walk(json.loads(file.read_bytes()))
    first = read_results(ROOT / "docs" / "maddison2014")
    accuracies = {}
    for net in (*first["table2"]["nets"], *first["figure1"]["nets"]):
        assert accuracies.setdefault((net["title"], net["positions"]), net["tested"]["top"]) == net["tested"]["top"]


@pytest.mark.parametrize(
    ("model", "metric", "pages"),
    [
        ("policy-19", "test top-1", ["README.md", "docs/verification.md", "docs/tutorials/own-games.md"]),
        ("policy-9", "test top-1", ["README.md", "docs/verification.md"]),
        ("territory-9", "test points known", ["README.md"]),
        ("crbm-9", "win rate against random, one ply", ["README.md", "docs/verification.md"]),
        ("crbm-9", "win rate against alp, one ply", ["README.md", "docs/verification.md"]),
        ("shapes-9", "win rate against GNU Go level 0", ["README.md", "docs/verification.md"]),
    ],
)
def test_documents_quote_the_cards(model, metric, pages):
    (path,) = (path for path in pretrained_models() if path.name == model)
    found = open_model(path).card.metrics[metric]
    value, low, high = (f"{100 * number:.1f}" for number in (found.value, found.low, found.high))
    for name in pages:
        text = (ROOT / name).read_text(encoding="utf-8")
        assert f"{value} % ({low}–{high})" in text, name
        assert f"{found.positions or found.games:,}" in text, name


def test_the_readme_quotes_the_table_of_sets():
    results = read_results(ROOT / "docs" / "maddison2014")
    rows = {row.id: row for row in load_experiment("maddison2014").rows(results)}
    row = rows["sets/policy-19/pro19/alone/top-1"]
    low, high = (round(bound, 1) for bound in row.interval)
    tested = results["sets"]["nets"]["policy-19"][0]["alone"]
    quoted = f"{row.ours} % ({low}–{high}) of {tested['positions']:,} in {tested['games']:,} of"
    assert quoted in (ROOT / "README.md").read_text(encoding="utf-8")


def test_every_share_in_the_readme_has_an_interval():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    shares = re.findall(r"\d+\.\d ?% ?(\S*)", text)
    assert len(shares) > 5
    assert all(after.startswith("(") for after in shares)


SECTIONS = {  # that the papers have
    r"Silver[^.;:]*2007": "1 2 3 4 5 6 7 8 9 10 11",
    r"Maddison[^.;:]*2014": "1 2 3 4 5 5.1 5.2 6 7",
    r"Wu and Baldi 2006": "1 2 3 3.1 3.2 3.3 3.4 4 5",
}


@pytest.mark.parametrize("paper", SECTIONS)
def test_sections_that_are_cited_exist(paper):
    cited = set()
    for file in (ROOT / "src").rglob("*.py"):
        text = " ".join(file.read_text(encoding="utf-8").replace("et al.", "et al").replace("\n#", " ").split())
        for found in re.findall(rf"{paper}, sections? (\d[\d.]*(?: (?:and|to) \d[\d.]*)?)", text):
            cited |= {number.rstrip(".") for number in re.findall(r"\d[\d.]*", found)}
    assert cited
    assert cited <= set(SECTIONS[paper].split())
