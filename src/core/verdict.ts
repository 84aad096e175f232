/**
 * The end of one trial, never a bare boolean:
 * - `pass` and `fail` are statements about the agent;
 * - `infra` means the machinery broke and the trial did not really happen;
 * - `invalid` means the case itself is broken (failing set-up, missing template, unusable gate).
 */
export type Verdict = 'pass' | 'fail' | 'infra' | 'invalid'

export const verdicts: readonly Verdict[] = ['pass', 'fail', 'infra', 'invalid']

/** Only these two enter a rate: the others say nothing about the agent. */
export function isCounted(verdict: Verdict): verdict is 'pass' | 'fail' {
  return verdict === 'pass' || verdict === 'fail'
}
