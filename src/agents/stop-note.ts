import type { ExecResult } from '../io/exec.ts'

/** How a command ended that did not exit by itself, for the model; empty for one that did. */
export function stopNote({ ending, signal, error }: ExecResult, limit: string): string {
  return {
    exited: '',
    signalled: `[killed by ${signal}]`,
    timed_out: `[stopped after ${limit}]`,
    aborted: '[stopped]',
    not_started: `[not started: ${error}]`,
  }[ending]
}
