import type { InfrastructureFault } from './contract.ts'

/** Why a task ends before it is done. */
export type HaltReason =
  | { readonly kind: 'cancelled' }
  /** The worker goes; another one takes the task up. */
  | { readonly kind: 'left' }
  | { readonly kind: 'stuck'; readonly reason: string }
  | { readonly kind: 'infra'; readonly fault: InfrastructureFault }

/** Thrown inside a task by whoever finds that it cannot go on, caught where the task ends and nowhere else. */
export class TaskHalt extends Error {
  override readonly name = 'TaskHalt'
  readonly why: HaltReason

  constructor(why: HaltReason) {
    super(why.kind)
    this.why = why
  }
}

export function infra(source: string, message: string, advice: string): TaskHalt {
  return new TaskHalt({ kind: 'infra', fault: { source, message, advice } })
}
