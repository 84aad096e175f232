import type { ExecResult } from '../io/exec.ts'

/** How a command ended that did not exit by itself, for the model; empty for one that did. */
export function stopNote({ ending, signal, error }: ExecResult, limit: string): string {
  switch (ending) {
    case 'exited':
      return ''
    case 'signalled':
      return `[killed by ${signal}]`
    case 'timed_out':
      return `[stopped after ${limit}]`
    case 'aborted':
      return '[stopped]'
    case 'not_started':
      return `[not started: ${error}]`
  }
}
