#!/usr/bin/env python3
"""Few-shot classes from captions: each photo of Flickr8k is a class, SHOTS of its captions are to learn from, another is the test.

usage: TESSERA_DATA=... flickr8k_few_shot.py SHOTS PHOTOS TO [DRAW]
Draws 0, -1, -2 and so on are for choosing options: 2,000 photos, the same each time, of which other captions are learned and asked for.
Draws 1, 2, 3 and so on are for reporting: photos drawn at random from the 5,000 others.

Writes TO/train.svm and TO/test.svm with the counts of words, and TO/train-tfidf.svm and TO/test-tfidf.svm with each word weighed by
how rare it is among the training captions. Words are numbered in the order in which they are met in the training captions; others
are left out.
"""
import collections, math, os, random, re, sys
shots, photos, to, draw = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], int(sys.argv[4]) if len(sys.argv) > 4 else 0
captions = collections.defaultdict(list)
for line in open(os.path.join(os.environ["TESSERA_DATA"], "flickr8k", "Flickr8k.token.txt"), encoding="utf-8"):
    name, _, text = line.rstrip("\n").partition("\t")
    captions[name.split("#")[0]].append(re.findall(r"[a-z0-9']+", text.lower()))
chosen = sorted(name for name in captions if len(captions[name]) == 5)
random.Random(0).shuffle(chosen)
rng = random.Random(draw)
chosen = chosen[:2000] if draw < 1 else rng.sample(chosen[2000:], len(chosen) - 2000)
if photos > len(chosen): sys.exit(f"there are only {len(chosen)} photos for draw {draw}")
train, test = [], []
for number, name in enumerate(chosen[:photos], 1):
    texts = captions[name][:]
    rng.shuffle(texts)
    train += [(number, words) for words in texts[:shots]]
    test.append((number, texts[4]))
rng.shuffle(train)
vocabulary, having = {}, collections.Counter()
for _, words in train:
    having.update(set(words))
    for word in words:
        vocabulary.setdefault(word, len(vocabulary) + 1)
def line(number, words, weight):
    counts = collections.Counter(vocabulary[word] for word in words if word in vocabulary)
    return f"{number} " + " ".join(f"{i}:{weight(i, n):.6g}" for i, n in sorted(counts.items())) + "\n"
names = {i: word for word, i in vocabulary.items()}
idf = lambda i: math.log((1 + len(train)) / (1 + having[names[i]])) + 1
os.makedirs(to, exist_ok=True)
for ending, weight in (("", lambda i, n: n), ("-tfidf", lambda i, n: (1 + math.log(n)) * idf(i))):
    for part, examples in (("train", train), ("test", test)):
        with open(os.path.join(to, f"{part}{ending}.svm"), "w") as out:
            out.writelines(line(number, words, weight) for number, words in examples)
