import type { InfrastructureFault } from './contract.ts'

/** Why a task ends before it is done. */
export type HaltReason =
  | { readonly kind: 'cancelled' }
  /** The worker stops; another one resumes the task. */
  | { readonly kind: 'left' }
  /** The Editor left every file as it was. */
  | { readonly kind: 'unchanged'; readonly reason: string }
  | { readonly kind: 'stuck'; readonly reason: string }
  | { readonly kind: 'infra'; readonly fault: InfrastructureFault }

/** Thrown by a step when the task cannot continue; caught only where the task ends. */
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
