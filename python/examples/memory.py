"""Many classes with few examples each: a memory tree finds a text like a query among thousands."""

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer

from tessera import MemoryTreeClassifier

rng = np.random.default_rng(0)
words = np.array([f"word{i}" for i in range(5000)])
topics = [rng.choice(words, 12, replace=False) for _ in range(500)]
draw = lambda topic: " ".join([*rng.choice(topics[topic], 6), *rng.choice(words, 2)])
classes = np.repeat(np.arange(500), 4)
texts, queries = [draw(topic) for topic in classes], [draw(topic) for topic in range(500)]
vectors = TfidfVectorizer().fit(texts)
memory = MemoryTreeClassifier(n_trees=4, n_leaves=8, random_state=0).fit(vectors.transform(texts), classes)
answers = memory.predict(vectors.transform(queries))
print(f"{(answers == np.arange(500)).mean():.3f} of 500 queries find a text of their class, among {memory.n_memories_} memories")
scores, numbers = memory.recall(vectors.transform(queries[:1]), 3)
print("the best for the first:", [(int(classes[number]), round(float(score), 2)) for score, number in zip(scores[0], numbers[0])])
