"""Trains the tagger that finds names. Run by `make tagger`, after tools/tagger_words.py.

    python -m tools.train_tagger NER_FOLDER OUT [--iterations 100] [--c1 0.02] [--c2 0.3]

The folder holds broad_twitter.conll, wikigold.conll, wnut17_train.conll and sec_fin5.conll, one token and tag a line. `split` says what is
held out. Training is deterministic: no chance is used, and one thread.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

import numpy as np

from shoal.documents.detectors.tagger import LABELS, sentence_case
from shoal.documents.detectors.tagger_words import Token, form_of, places_in, tokens_of, word_list

Sentence = list[tuple[str, str]]
TAGS = {"person": "PER", "location": "LOC", "group": "ORG", "corporation": "ORG", "product": "MISC", "creative-work": "MISC"}
ROLES = frozenset({"borrower", "lender", "bank"})  # parties of a contract that SEC filings tag like names


def read_conll(path: Path) -> list[Sentence]:
    """Sentences of (token, tag): PER, ORG, LOC or MISC with B- or I-, or O. Account names (@name) are not names here: a recognizer has them."""
    sentences: list[Sentence] = []
    current: Sentence = []
    for line in [*path.read_text(encoding="utf-8").splitlines(), ""]:
        if not line.strip():
            if current:
                sentences.append(current)
            current = []
            continue
        fields = line.split("\t") if "\t" in line else line.split(" ")
        token, tag = fields[0], fields[-1]
        if token == "-DOCSTART-" or not token:
            continue
        if tag != "O":
            prefix, _, kind = tag.partition("-")
            tag = f"{prefix}-{TAGS.get(kind, kind)}"
        if current and current[-1][0] == "@":
            current[-1] = ("@" + token, "O")
        else:
            current.append((token, "O" if token.startswith("@") else tag))
    if path.stem == "sec_fin5":
        sentences = [
            [(token, "O" if token.lower() in ROLES and _alone(sentence, i) else tag) for i, (token, tag) in enumerate(sentence)]
            for sentence in sentences
        ]
    return sentences


def _alone(sentence: Sentence, i: int) -> bool:
    beside = [sentence[j][1] for j in (i - 1, i + 1) if 0 <= j < len(sentence)]
    return all(tag == "O" for tag in beside)


def split(folder: Path) -> tuple[list[Sentence], dict[str, list[Sentence]], dict[str, list[Sentence]]]:
    """What is trained on, what settings are chosen on, and what is held out.

    Wikigold: the first 60 per cent is trained on, the next 10 chooses, the last 30 is held out (whole articles but one). WNUT-17: of every
    ten blocks of 40 messages, six are trained on, one chooses, three are held out. Broad Twitter: the last 5 per cent chooses.
    """
    wiki = read_conll(folder / "wikigold.conll")
    wnut = read_conll(folder / "wnut17_train.conll")
    btc = read_conll(folder / "broad_twitter.conll")
    sec = read_conll(folder / "sec_fin5.conll")
    a, b = len(wiki) * 6 // 10, len(wiki) * 7 // 10
    c = len(btc) * 95 // 100
    block = [i // 40 % 10 for i in range(len(wnut))]
    train = wiki[:a] + [s for s, k in zip(wnut, block, strict=True) if k < 6] + btc[:c] + sec
    choose = {"wikigold": wiki[a:b], "wnut17": [s for s, k in zip(wnut, block, strict=True) if k == 6], "twitter": btc[c:]}
    held_out = {"wikigold": wiki[b:], "wnut17": [s for s, k in zip(wnut, block, strict=True) if k > 6]}
    return train, choose, held_out


def retokenized(sentence: Sentence) -> tuple[list[Token], list[str]]:
    """The sentence cut as the tagger cuts text, tags carried over by position; I- only after the same kind."""
    text = " ".join(token for token, _ in sentence)
    owner = [i for i, (token, _) in enumerate(sentence) for _ in range(len(token) + 1)]
    tokens = tokens_of(text)
    tags: list[str] = []
    before = -1
    for token in tokens:
        i = owner[token.start]
        tag = sentence[i][1]
        if tag != "O":
            kind = tag[2:]
            inside = bool(tags) and tags[-1][2:] == kind and (tag[0] == "I" or i == before)
            tag = ("I-" if inside else "B-") + kind
        tags.append(tag)
        before = i
    return tokens, tags


def features_of(tokens: list[Token]) -> list[list[str]]:
    """The features of each token as strings: the same sums that shoal.documents.detectors.tagger adds up in tables."""
    words = word_list()
    forms = [form_of(token.text, words) for token in tokens]
    n = len(forms)
    place = places_in([token.text.lower() for token in tokens], words)
    case = sentence_case(tokens)
    out = []
    for i, form in enumerate(forms):
        names = [
            name for column, offset in enumerate((-2, -1, 0, 1, 2)) if 0 <= i + offset < n for name in forms[i + offset].features[column]
        ]
        look0, look1 = (forms[i - 1].look if i else 0), (forms[i + 1].look if i + 1 < n else 0)
        near0, near1 = (forms[i - 1].cluster if i else 0), (forms[i + 1].cluster if i + 1 < n else 0)
        place0, place1 = (place[i - 1] if i else 0), (place[i + 1] if i + 1 < n else 0)
        names += [f"L-:{look0}:{form.look}", f"L+:{form.look}:{look1}", f"L3:{look0}:{form.look}:{look1}"]
        names += [f"C-:{near0}:{form.cluster}", f"C+:{form.cluster}:{near1}", f"P:{place0}:{place[i]}:{place1}", f"K:{case}:{form.look}"]
        out.append(names)
    return out


def with_other_cases(sentences: list[Sentence], share: float) -> list[Sentence]:
    """The sentences, and some again all in capitals or all in lower case, as people write headings and messages."""
    rng = random.Random(7)
    out = list(sentences)
    for sentence in sentences:
        chance = rng.random()
        if chance < share and any(tag != "O" for _, tag in sentence):
            change = str.upper if chance < share / 2 else str.lower
            out.append([(change(token), tag) for token, tag in sentence])
    return out


def main() -> None:
    import pycrfsuite

    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--iterations", type=int, default=100)
    parser.add_argument("--c1", type=float, default=0.02)
    parser.add_argument("--c2", type=float, default=0.3)
    parser.add_argument("--minimum", type=int, default=1)
    parser.add_argument("--cases", type=float, default=0.15)
    given = parser.parse_args()
    train, _, _ = split(given.folder)
    trainer = pycrfsuite.Trainer(algorithm="lbfgs", verbose=False)
    trainer.set_params({"c1": given.c1, "c2": given.c2, "max_iterations": given.iterations, "feature.minfreq": given.minimum})
    count = 0
    for sentence in with_other_cases(train, given.cases):
        tokens, tags = retokenized(sentence)
        count += len(tokens)
        trainer.append(features_of(tokens), tags)
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "model")
        trainer.train(path)
        tagger = pycrfsuite.Tagger()
        tagger.open(path)
        info = tagger.info()
    save(info.state_features, info.transitions, given.out)
    sys.stderr.write(f"{count:,} tokens, {len(info.state_features):,} weights, {given.out.stat().st_size / 1e6:.2f} MB\n")


def save(state: dict[tuple[str, str], float], transitions: dict[tuple[str, str], float], out: Path) -> None:
    """Weights by feature as half-precision numbers; what is too small to matter is left out."""
    by_name: dict[str, list[tuple[int, float]]] = defaultdict(list)
    for (name, label), weight in state.items():
        if abs(weight) >= 0.005:
            by_name[name].append((LABELS.index(label), weight))
    names = sorted(by_name)
    rows = np.array([i for i, name in enumerate(names) for _ in by_name[name]], dtype=np.int64)
    steps = np.zeros((len(LABELS), len(LABELS)), dtype=np.float32)
    for (x, y), weight in transitions.items():
        steps[LABELS.index(x), LABELS.index(y)] = weight
    np.savez_compressed(
        out,
        names=np.frombuffer("\n".join(names).encode(), dtype=np.uint8),
        rows=np.diff(rows, prepend=0).astype(np.uint8),
        labels=np.array([label for name in names for label, _ in sorted(by_name[name])], dtype=np.uint8),
        values=np.array([weight for name in names for _, weight in sorted(by_name[name])], dtype=np.float16),
        transitions=steps,
    )


if __name__ == "__main__":
    main()
