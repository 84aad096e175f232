/**
 * The end of one trial, never a bare boolean:
 * - `pass` and `fail` are statements about the agent;
 * - `infra` means the infrastructure failed and the trial does not count;
 * - `invalid` means the case itself is broken (failing set-up, missing template, unusable gate).
 */
export type Verdict = 'pass' | 'fail' | 'infra' | 'invalid'

export const verdicts: readonly Verdict[] = ['pass', 'fail', 'infra', 'invalid']

/** Only these two count in a rate. The others say nothing about the agent. */
export function isCounted(verdict: Verdict): verdict is 'pass' | 'fail' {
  return verdict === 'pass' || verdict === 'fail'
}
