import { shorten } from '../../core/shorten.ts'
import type { HandlerRun, Noticed } from './contract.ts'
import { canRefuse } from './event-powers.ts'

/** The failure of a run that is no answer; null when it ended well. */
export function whyFailed({ ending, stderr }: HandlerRun, event: string): Noticed | null {
  const words = lastLine(stderr)
  const fails = canRefuse(event) ? 'HOOK_FAILS_OPEN' : 'HOOK_CRASHES'
  switch (ending.kind) {
    case 'exited': {
      const { exitCode } = ending
      if (exitCode === 0 || exitCode === 2) return null
      if (needsTerminal.test(stderr)) return { code: 'HOOK_NEEDS_TTY', detail: words }
      if (exitCode === 127) return { code: 'HOOK_PROGRAM_MISSING', detail: words }
      if (exitCode === 126) return { code: 'HOOK_NOT_EXECUTABLE', detail: words }
      return { code: fails, detail: `exit code ${exitCode}${words === '' ? '' : `: ${words}`}` }
    }
    case 'signalled':
      return { code: 'HOOK_CRASHES', detail: `it was ended by ${ending.signal}` }
    case 'timed_out':
      return { code: 'HOOK_HANGS', detail: `no answer within ${ending.limitMs} ms` }
    case 'not_started':
      return {
        code: ending.problem === 'not_executable' ? 'HOOK_NOT_EXECUTABLE' : 'HOOK_PROGRAM_MISSING',
        detail: ending.message,
      }
    case 'answered':
      return ending.status >= 200 && ending.status < 300
        ? null
        : { code: fails, detail: `HTTP status ${ending.status}` }
    case 'unreachable':
      return { code: 'HOOK_UNREACHABLE', detail: ending.message }
  }
}

/** What programs say that asked for a terminal. */
export const needsTerminal: RegExp = /\/dev\/tty|not a tty|inappropriate ioctl/i

function lastLine(text: string): string {
  return shorten(text.trim().split('\n').at(-1) ?? '', 160)
}
