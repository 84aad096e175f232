/** What is known about how a piece of shell ended. */
export interface ShellOutcome {
  /** null when unknown. */
  readonly code: number | null
  readonly approximate: boolean
}

export const unknownOutcome: ShellOutcome = { code: null, approximate: false }

/** It certainly failed, with a code nobody saw. */
export const someFailure: ShellOutcome = { code: 1, approximate: true }

export type Logical = '&&' | '||'

/**
 * What the end of a chain says about each of its commands. `blame` asks for the failure to be given to the last
 * target invocation among the first `blame.count` commands, because one of them failed and nothing tells which.
 */
export interface ChainOutcome {
  readonly outcomes: readonly ShellOutcome[]
  readonly blame: { readonly count: number; readonly code: number } | null
}

/** Chains associate to the left: `a && b || c` is `(a && b) || c`. `operators[i]` stands before command `i + 1`. */
export function chainOutcome(operators: readonly Logical[], whole: ShellOutcome): ChainOutcome {
  const outcomes: ShellOutcome[] = []
  let rest = whole
  for (let index = operators.length; index >= 1; index -= 1) {
    if (rest.code === null) break
    if (operators[index - 1] === '&&') {
      if (rest.code !== 0)
        return {
          outcomes: padded(outcomes, operators.length + 1),
          blame: { count: index + 1, code: rest.code },
        }
      outcomes.push(rest)
    } else if (rest.code === 0) {
      rest = unknownOutcome
    } else {
      outcomes.push(rest)
      rest = someFailure
    }
  }
  // Whatever stopped the loop early left `rest` unknown, and with it everything to the left.
  if (rest.code !== null) outcomes.push(rest)
  return { outcomes: padded(outcomes, operators.length + 1), blame: null }
}

/** Outcomes were collected from the right; everything before them is unknown. */
function padded(outcomes: readonly ShellOutcome[], length: number): ShellOutcome[] {
  return [...Array.from({ length: length - outcomes.length }, () => unknownOutcome), ...outcomes.toReversed()]
}
