"""Classes learned one row after another, a new one in the middle; beside the averaged Perceptron."""

from sklearn.datasets import load_digits

from tessera import OnlineClassifier

X, y = load_digits(return_X_y=True)
for learner in ["served", "averaged"]:
    digits = OnlineClassifier(learner, random_state=0)
    # Nines come only after 600 rows of the others.
    early = y[:600] != 9
    digits.partial_fit(X[:600][early], y[:600][early])
    digits.partial_fit(X[600:1200], y[600:1200])
    print(f"{learner}: {digits.n_mistakes_} wrong guesses on the way, {digits.score(X[1200:], y[1200:]):.3f} of the rest are right")
