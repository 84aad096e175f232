/** What every hook comes down to, whatever starts it. */
export interface HookProgram {
  /** Absolute: the Node that runs now, so that no PATH of the agent decides which one it is. */
  readonly node: string
  readonly hookBin: string
}
