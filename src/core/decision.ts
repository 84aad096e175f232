/** What the guard answers to one hook event. A codec turns it into exactly the bytes its agent accepts. */
export interface Decision {
  /** `d_` and 16 characters; `gantry guard explain` finds it again. */
  readonly id: string
  /** `deny` keeps a tool call or a change of settings from happening; `refuse` keeps the agent from stopping. */
  readonly verdict: 'pass' | 'deny' | 'refuse'
  /** For the model: why, and what to do instead. null with `pass`. */
  readonly reason: string | null
  /** Facts for the model, besides the verdict. Under 10,000 characters. */
  readonly context: string | null
  /** For the person at the screen, where the agent shows it. */
  readonly notice: string | null
  /** Which rules spoke, in the order of the registry. */
  readonly findings: readonly RuleFinding[]
}

export interface RuleFinding {
  readonly rule: string
  readonly verdict: Decision['verdict']
  /** What it said, in one string. */
  readonly text: string
}

/** How a piece of guarded work ended. Only `VERIFIED` means that the evidence is there for the tree as it is. */
export type EndState = 'VERIFIED' | 'CAPPED' | 'WAIVED' | 'INFRA'
