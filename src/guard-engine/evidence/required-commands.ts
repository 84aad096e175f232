import { kindOfCommand } from '../../core/kind-of-command.ts'
import type { DeclaredCommand, History, ProjectFacts } from '../contract.ts'
import type { Settings } from '../settings/settings.ts'
import { provesNothing } from './proves-nothing.ts'

interface Known {
  readonly history: History
  readonly settings: Settings
  /** The current project, if it was read. */
  readonly project?: ProjectFacts | null
}

/** Every command whose run is evidence: from the settings, declared at session start, or discovered since. */
export function knownCommands({ history, settings, project }: Known): readonly DeclaredCommand[] {
  return once([
    ...settingsCommands(settings),
    ...history.session.declared,
    ...(project?.commands ?? []),
    ...(history.evidence.known ?? []),
  ])
}

/**
 * The commands that completed work needs. Commands that the project declares come before those that its toolchain suggests;
 * commands from the start of the session stay, whatever the agent does to the files.
 */
export function requiredCommands({ history, settings, project }: Known): readonly DeclaredCommand[] {
  const own = settingsCommands(settings)
  const before = history.session.declared.filter(isProof)
  const now = (project?.commands ?? []).filter(isProof)
  const isWrittenDown = own.length > 0 || before.some(({ explicit }) => explicit)
  if (isWrittenDown) return once([...own, ...before.filter(isExplicit), ...now.filter(isExplicit)])
  if (before.length === 0) return now.some(isExplicit) ? once(now.filter(isExplicit)) : guesses(now)
  // `pytest` runs what `pytest tests/` does, which is the guess since the directory is there.
  const isPart = ({ command }: DeclaredCommand): boolean =>
    before.some((whole) => command.startsWith(`${whole.command} `))
  const fresh = guesses(now).filter((each) => !isPart(each))
  return once([...guesses(before), ...fresh, ...now.filter(isExplicit)])
}

/** Declared commands that would succeed on any tree. */
export function idleCommands(known: Known): readonly DeclaredCommand[] {
  return knownCommands(known).filter((declared) => declared.explicit && !isProof(declared))
}

function settingsCommands({ checklist }: Settings): readonly DeclaredCommand[] {
  return checklist.verificationCommands
    .map((command) => command.trim())
    .filter((command) => command !== '')
    .map((command) => ({ command, kind: kindOfCommand(command), source: 'harness.json', explicit: true }))
    .filter(isProof)
}

function isExplicit({ explicit }: DeclaredCommand): boolean {
  return explicit
}

function isProof({ command }: DeclaredCommand): boolean {
  return provesNothing(command) === null
}

/** A target of a Makefile usually calls a command that another guess already names. */
function guesses(commands: readonly DeclaredCommand[]): readonly DeclaredCommand[] {
  const guessed = commands.filter(({ explicit }) => !explicit)
  const isTarget = ({ command }: DeclaredCommand): boolean =>
    /^(?:make|just|task) (?:test|check)$/.test(command)
  const hasOther = guessed.some((each) => each.kind === 'test' && !isTarget(each))
  return once(hasOther ? guessed.filter((each) => !isTarget(each)) : guessed)
}

function once(commands: readonly DeclaredCommand[]): readonly DeclaredCommand[] {
  const byText = new Map<string, DeclaredCommand>()
  for (const declared of commands) if (!byText.has(declared.command)) byText.set(declared.command, declared)
  return [...byText.values()]
}
