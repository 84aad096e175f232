import { kindOfCommand } from '../../core/kind-of-command.ts'
import { shorten } from '../../core/shorten.ts'
import { cappedMap } from './capped-map.ts'
import type { TraceCall } from './read-record.ts'
import type { VerificationFigure } from './trace-report.ts'

export interface VerificationCall {
  readonly command: string
  readonly kind: VerificationFigure['kind']
  readonly result: 'passed' | 'failed' | 'unknown'
}

const maxCommands = 2_000
const maxKnown = 20_000
const maxCommandChars = 200
const known = new Map<string, VerificationCall['kind'] | null>()

/** null when the call is no test, lint or build command. A run whose exit is masked by what follows has no known result. */
export function verificationOf({ command, result }: TraceCall): VerificationCall | null {
  if (command === null || result === 'denied') return null
  const kind = kindOf(command)
  if (kind === null) return null
  const shown = shorten(command, maxCommandChars)
  const isMasked = /[|;\n]/.test(command) && !command.includes('pipefail')
  const end = result === 'success' ? 'passed' : result === 'failure' ? 'failed' : 'unknown'
  return { command: shown, kind, result: isMasked ? 'unknown' : end }
}

/** Which page or step a command is about does not make it another kind. */
const digits = /\d+/g

function kindOf(command: string): VerificationCall['kind'] | null {
  const key = command.replaceAll(digits, '0')
  const remembered = known.get(key)
  if (remembered !== undefined) return remembered
  const found = kindOfCommand(command)
  const kind = found === 'other' ? null : found
  if (known.size >= maxKnown) known.clear()
  known.set(key, kind)
  return kind
}

export function countVerification() {
  const commands = cappedMap(
    maxCommands,
    () => ({ kind: 'test' as VerificationCall['kind'], runs: 0, passed: 0, failed: 0 }),
    ({ runs }) => runs,
  )
  return {
    add: ({ command, kind, result }: VerificationCall): void => {
      const figures = commands.at(command)
      figures.kind = kind
      figures.runs += 1
      if (result === 'passed') figures.passed += 1
      if (result === 'failed') figures.failed += 1
    },
    dropped: (): number => commands.dropped(),
    finish: (shown: number): readonly VerificationFigure[] =>
      commands
        .entries()
        .map(([command, figures]) => ({ command, ...figures }))
        .toSorted((a, b) => b.runs - a.runs)
        .slice(0, shown),
  }
}
