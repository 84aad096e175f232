/** The guard's answer to one hook event. A codec turns it into exactly the bytes its agent accepts. */
export interface Decision {
  /** `d_` and 16 characters; `gantry guard explain` finds it again. */
  readonly id: string
  /** `deny` prevents a tool call or a change of settings. `refuse` prevents the agent from stopping. */
  readonly verdict: 'pass' | 'deny' | 'refuse'
  /** For the model: why, and what to do instead. null with `pass`. */
  readonly reason: string | null
  /** Facts for the model, besides the verdict. Under 10,000 characters. */
  readonly context: string | null
  /** For the user, if the agent shows it. */
  readonly notice: string | null
  /** The rules that contributed, in registry order. */
  readonly findings: readonly RuleFinding[]
}

export interface RuleFinding {
  readonly rule: string
  readonly verdict: Decision['verdict']
  /** The rule's text. */
  readonly text: string
}

/** How a piece of guarded work ended. Only `VERIFIED` means that there is evidence for the current tree. */
export type EndState = 'VERIFIED' | 'CAPPED' | 'WAIVED' | 'INFRA'
