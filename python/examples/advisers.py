"""Several learners and the mixture of what they say, as labels come in one by one: no need to know which is best."""

from sklearn.datasets import load_digits

from tessera import AdviserMixtureClassifier

X, y = load_digits(return_X_y=True)
kinds = ["nearest", "perceptron", "pa"]
for advisers in [*([kind] for kind in kinds), kinds]:
    digits = AdviserMixtureClassifier(advisers, random_state=0).partial_fit(X[:400], y[:400])
    share = digits.score(X[400:], y[400:])
    print(f"{' and '.join(advisers)}: {digits.n_mistakes_} of 400 suggestions were wrong, {share:.3f} of the rest are right")
print("trusted now:", {name: round(share, 2) for name, share in digits.trust_.items()})
