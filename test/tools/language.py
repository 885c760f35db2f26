#!/usr/bin/env python3
#-------------------------------------------------------------------------
#
# language.py
#	  How the documentation is to read, in figures: the documents at the top, docs/,
#	  every page of src/ and test/, the COMMENTs of src/sql and the messages of src.
#
# usage: language.py			prints the figures of pages of which one is too high, and exits with 1
#		 language.py figures	prints those of each page
#		 language.py PAGE...	prints the sentences of these pages that count against them,
#								the longest first
#
# A page has at most 15 words a sentence on the mean, at most 2 % of sentences
# with more than 35 words, and at most 1 % that begin with What, Who, Whose, Of, So
# or Nor.
#
# Code, tables, headings and comments of HTML do not count.  A list's item is a
# paragraph, and fewer than three words are no sentence.
#
#-------------------------------------------------------------------------
import glob
import os
import re
import subprocess
import sys

os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..'))
RULE = (15.0, 2.0, 1.0)         # words a sentence, % of long sentences, % that begin badly
LONG = 35
BAD = re.compile(r'(?:what|whose|who|of|so|nor)\b', re.I)
DOCUMENTS = ['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'CHANGELOG.md', 'SECURITY.md', 'RELEASING.md']
COMMENTS, MESSAGES = 'COMMENTs of src/sql', 'messages of src'


def paragraphs(text):
    """The prose of a page, a string for each paragraph and each item of a list."""
    text = re.sub(r'^```.*?^```$|<!--.*?-->', '', text, flags=re.S | re.M)
    found = ['']
    for line in text.split('\n'):
        begins = re.match(r'\s*(?:[-*+]|\d+\.)\s+', line)
        if begins or not line.strip() or re.match(r'[#|<]', line.strip()):
            found.append('')
        if not re.match(r'[#|<]', line.strip()):
            found[-1] += ' ' + (line[begins.end():] if begins else line.strip())
    return found


def sentences(paragraph):
    """[(words, sentence)] of a paragraph: code, a link or a picture is one word, or its text."""
    text = re.sub(r'!\[[^\]]*\]\([^)]*\)', '', paragraph)
    text = re.sub(r'\[([^\]]*)\]\([^)]*\)', r'\1', text)
    text = re.sub(r'`[^`]*`', 'CODE', text)
    text = re.sub(r'\b(e\.g|i\.e|etc|vs|cf)\.', r'\1', text)
    text = re.sub(r'[*_]{1,3}', '', text)
    parts = re.split(r'(?<=[.!?:])["\')]*\s+(?=[A-Z0-9"\'(])', text.strip())
    counted = ((len(re.findall(r"[A-Za-z0-9'-]+", part)), part) for part in parts)
    return [(words, part) for words, part in counted if words >= 3]


def literal(text):
    """What neighbouring strings of C say."""
    return ''.join(re.findall(r'"((?:\\.|[^"\\])*)"', text)).replace('\\n', ' ').replace('\\"', '"')


def pages():
    """{page: its paragraphs}"""
    result = {name: paragraphs(open(name).read())
              for name in DOCUMENTS + [page for folder in ('docs', 'src', 'test')
                                       for page in sorted(glob.glob(folder + '/**/*.md', recursive=True))]}
    sql = subprocess.run(["sh", "src/sql/compose.sh", "install"], capture_output=True, text=True, check=True).stdout
    result[COMMENTS] = [text.replace("''", "'") for text in re.findall(r"^COMMENT ON [^;']*? IS\s+'((?:[^']|'')*)';", sql, re.M)]
    c = ''.join(open(name).read() for name in sorted(glob.glob('src/**/*.[ch]', recursive=True)))
    result[MESSAGES] = [literal(text) for text in
                        re.findall(r'\b(?:errmsg|errdetail|errhint)(?:_\w+)?\(((?:\s*"(?:\\.|[^"\\])*"\s*)+)', c)]
    return result


def figures(found):
    """The three figures of RULE."""
    n = max(len(found), 1)
    return (sum(words for words, _ in found) / n, 100 * sum(words > LONG for words, _ in found) / n,
            100 * sum(bool(BAD.match(text)) for _, text in found) / n)


failed = 0
read = {page: [one for paragraph in text for one in sentences(paragraph)] for page, text in pages().items()}
every = sys.argv[1:] == ['figures']
if len(sys.argv) > 1 and not every:
    for page in sys.argv[1:]:
        for words, text in sorted(read[page], reverse=True):
            if words > 25 or BAD.match(text):
                print('%3d  %s' % (words, text))
    sys.exit(0)
for page, found in read.items():
    have = figures(found)
    over = [name for name, figure, most in zip(('words a sentence', 'long sentences', 'beginnings'), have, RULE) if figure > most]
    failed += bool(over)
    if over or every:
        print('%-28s %4d sentences, %4.1f words, %4.1f %% longer than %d, %4.1f %% begin with What, Of, So ...%s'
              % (page, len(found), have[0], have[1], LONG, have[2], '  TOO HIGH: ' + ', '.join(over) if over else ''))
if len(read[COMMENTS]) < 100 or len(read[MESSAGES]) < 100:
    failed += 1
    print('COMMENTs or messages are not found any more: the expressions of this check no longer fit')
sys.exit(1 if failed else 0)
