"""The net of high recall: capitalised words that no word list knows as ordinary, for a person to look at."""

from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

from shoal.document import UNKNOWN, Document, Finding
from shoal.documents.detectors.tagger import sentence_case
from shoal.documents.detectors.tagger_words import look_of, sentences_of, tokens_of, word_list

_WRITTEN_SO = frozenset(
    """
    i i'm i'd i'll i've ok am pm monday tuesday wednesday thursday friday saturday sunday january february march april may june july august
    september october november december mr mrs ms dr prof jr sr inc ltd co corp no re fw cc bcc ps etc tv cd dvd pc faq pdf html url id
    """.split()  # noqa: SIM905 - a list of words reads better as words
)


@dataclass(frozen=True)
class Capitals:
    """Finds capitalised words that are not ordinary words at the start of a sentence. For review: many are no names."""

    name: ClassVar[str] = "capitals"
    confidence: float = 0.3

    def detect(self, document: Document) -> list[Finding]:
        """Neighbouring words are one finding."""
        text = document.text
        tokens = tokens_of(text)
        found: list[Finding] = []
        for first, end in sentences_of(text, tokens):
            plain_case = sentence_case(tokens[first:end]) == 0
            begins = True
            open_from = -1
            for i in range(first, end + 1):
                taken = i < end and _unusual(tokens[i].text, begins or not plain_case)
                if taken and open_from < 0:
                    open_from = i
                elif not taken and open_from >= 0:
                    found.append(
                        Finding(
                            tokens[open_from].start, tokens[i - 1].end, UNKNOWN, self.confidence, "capitalised, and not an ordinary word"
                        )
                    )
                    open_from = -1
                begins = i < end and ((begins and not tokens[i].text[-1].isalnum()) or tokens[i].text in '.!?:"“”(')
        return found


@lru_cache(maxsize=65_536)
def _unusual(token: str, capital_says_nothing: bool) -> bool:
    """A word with a capital; where every word would have one, only a word that is mostly written with one, or unknown."""
    if look_of(token) not in ("Title", "UPPER", "mixEd") or token.lower().rstrip(".") in _WRITTEN_SO:
        return False
    if not capital_says_nothing:
        return True
    known = word_list().know(token.lower())
    return known.caps >= 7 or known.often == 0
