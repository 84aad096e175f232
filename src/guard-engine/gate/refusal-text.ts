import { counted } from '../../core/counted.ts'
import type { HookTraits } from '../../core/hook-event.ts'
import { shorten } from '../../core/shorten.ts'
import { printable } from '../printable.ts'
import { stashRef } from '../project/command-sources.ts'
import { namedFiles } from './change-influence.ts'
import type { Blockers } from './find-blockers.ts'

export interface Refusal {
  readonly blockers: Blockers
  readonly weakened: readonly string[]
  /** Declared commands that prove nothing. */
  readonly idle: readonly string[]
  readonly number: number
  readonly of: number
  /** What the refusal before this one named; null for the first. */
  readonly before: readonly string[] | null
  readonly traits: HookTraits
  readonly root: string
  /** The gate runs the commands itself at every stop. */
  readonly isSelf: boolean
  /** The words that start Gantry from any shell; null when unknown. */
  readonly program: readonly string[] | null
}

const maxChars = 3_900
const maxCommands = 12
const maxCommandChars = 300
const maxWeakened = 12

/** The text for the agent: facts, and exactly what to run. Its first line identifies a refusal that is sent back as a prompt. */
export function refusalText(refusal: Refusal): string {
  const { blockers, weakened, number, of } = refusal
  const parts = [
    `Gantry guard: not done yet (refusal ${number} of ${of}).`,
    sincePart(refusal),
    commandsPart(refusal),
    branchesPart(blockers),
    untestedPart(blockers),
    nothingKnownPart(refusal),
    weakenedPart(weakened),
    planPart(blockers),
    personPart(refusal),
  ].filter((part) => part !== null)
  return shorten(parts.join('\n\n'), maxChars)
}

/** Those of its lines that apply; null when none does. */
function partOf(...lines: readonly (string | null | readonly string[])[]): string | null {
  const found = lines.flat().filter((each) => each !== null)
  return found.length === 0 ? null : found.join('\n')
}

/** A short form for the ledger and for the user. */
export function blockerSummary(blockers: Blockers): readonly string[] {
  const { commands, plan, nothingKnown, untested, branches, isGitSilent } = blockers
  return [
    ...commands.map(({ declared, text }) => `${line(declared.command)}: ${text}`),
    nothingKnown ? 'no verification command is known' : null,
    untested.length === 0 ? null : `no test failed before the change of ${untested.slice(0, 3).join(', ')}`,
    ...branches.map(({ branch, file, isCopy }) =>
      branch === stashRef || isCopy === true
        ? `${isCopy === true ? 'a copy' : 'the git stash'} has work of this session: ${line(file)}`
        : `${line(branch)} has commits of this session without a green run`,
    ),
    isGitSilent ? 'git did not answer, so put-away commits were not looked for' : null,
    plan === null ? null : `${counted(plan.total - plan.done, 'open task')} in IMPLEMENTATION_PLAN.md`,
  ].filter((each) => each !== null)
}

/** What became of the last refusal, so that no refusal repeats the one before. */
function sincePart({ before, blockers, number }: Refusal): string | null {
  if (before === null) return null
  const now = blockerSummary(blockers)
  const commands = blockers.commands.map(({ declared }) => `${line(declared.command)}: `)
  const subjectOf = (text: string): string =>
    commands.find((command) => text.startsWith(command)) ?? text.replace(/^\d+ open tasks?/, '')
  const [then, is] = [new Set(before.map(subjectOf)), new Set(now.map(subjectOf))]
  const {
    unchanged = [],
    changed = [],
    fresh = [],
  } = Object.groupBy(now, (each) => {
    if (before.includes(each)) return 'unchanged'
    return then.has(subjectOf(each)) ? 'changed' : 'fresh'
  })
  const done = before.filter((each) => !is.has(subjectOf(each)) && !each.startsWith('weakened: '))
  if (changed.length + fresh.length + done.length === 0)
    return `Since refusal ${number - 1}, nothing of this has changed.`
  // The list of the commands says why.
  const nameOnly = (text: string): string =>
    commands.find((command) => text.startsWith(command))?.slice(0, -2) ?? text
  const list = (title: string, items: readonly string[]): string | null => {
    const shown = items.slice(0, 6).map((each) => printable(each, 200))
    return shown.length === 0 ? null : `- ${title}: ${shown.join('; ')}.`
  }
  return partOf(
    `Since refusal ${number - 1}:`,
    list('no longer open', done),
    list('unchanged', unchanged.map(nameOnly)),
    list('now', changed),
    list('new', fresh),
  )
}

function untestedPart({ untested }: Blockers): string | null {
  if (untested.length === 0) return null
  return [
    `No test failed before the change of ${untested.slice(0, 6).map(quoted).join(', ')} (\`middleware.pre_completion_checklist.tdd: require\` in harness.json).`,
    'Write the test first. For code that is already there: put the change aside (`git stash push` with these files), run the test and see it fail, bring the change back, and run it again. If this changes no behaviour and no test: run the tests once without the change (`git stash`, the tests, `git stash pop`); green before and after needs no failing test.',
  ].join('\n')
}

function branchesPart({ branches, isGitSilent }: Blockers): string | null {
  const stash = branches.find(({ branch }) => branch === stashRef)
  const copy = branches.find(({ isCopy }) => isCopy === true)
  const others = branches.filter(({ branch, isCopy }) => branch !== stashRef && isCopy !== true)
  return partOf(
    isGitSilent
      ? 'git did not answer, so work of this session on other branches or in the stash was not looked for. Check that `git status` and `git log` answer, and stop again.'
      : null,
    stash === undefined
      ? null
      : `Work of this session is in the git stash and not in the files: ${quoted(stash.file)}. Bring it back with \`git stash pop\` and run the checks; \`git stash drop\` what is not needed. If the user asked for the stash, say so and stop again.`,
    copy === undefined
      ? null
      : `The files are as before, and work of this session was copied to ${quoted(copy.file)}. Bring it back and run the checks, or delete the copy. If the user asked for that, say so and stop again.`,
    others.length === 0
      ? null
      : [
          'Commits of this session are not in the files here, and no check has run on them:',
          ...others.map(
            ({ branch, commit, file }) =>
              `- ${quoted(branch)}, ${commit.slice(0, 10)}, changes ${quoted(file)}.`,
          ),
          'Check out each commit, run the checks there in calls of their own, and go back. Delete what is not needed.',
        ],
  )
}

/** Only tests changed, and they fail: the first half of test-driven work, at which the user may want to stop. */
export function failsInNewTests({ commands, change }: Blockers): boolean {
  const isRed = commands.length > 0 && commands.every(({ kind }) => kind === 'red')
  return isRed && change?.tests === true && change.sources.length === 0
}

/** How it ends: what is left to try, and what a person can do. */
function personPart({ blockers, number, of, program, isSelf }: Refusal): string | null {
  const isLast = number === of
  return partOf(
    isLast && number > 1 && blockers.commands.length > 0 && !isSelf
      ? [
          '`gantry guard verify` runs all of them and records the result, however the commands are written.',
          ...otherSpelling(program),
        ]
      : null,
    blockers.commands.some(({ isNew }) => isNew)
      ? 'Not all of that failed on the files of the start of the session.'
      : null,
    blockers.commands.some(({ kind, isNew }) => kind === 'red' && !isNew)
      ? 'If it failed before your change too, run it once on the files of the start of the session (`git stash`, the command, `git stash pop`, each in a call of its own): failures that were there do not block.'
      : null,
    failsInNewTests(blockers)
      ? 'If the user asked for tests that fail for now, say so in your answer and stop again.'
      : null,
    isLast
      ? 'This is the last refusal. If you stop again, the work ends unverified, and the user sees that.'
      : null,
    blockers.plan?.asked === null && blockers.commands.length === 0
      ? 'If the user asked for less than the whole plan, stop again and say what is left. A person can accept the files as they are: `gantry guard waive --reason TEXT`.'
      : 'A person can let it pass in a terminal: `gantry guard waive --reason TEXT`.',
  )
}

function commandsPart({ blockers, traits, root, program, isSelf }: Refusal): string | null {
  const { commands, change } = blockers
  if (commands.length === 0) return null
  const shown = commands.slice(0, maxCommands)
  // In a persistent shell, only a full path determines where a command runs.
  const place = traits.keepsShell === true ? `cd ${shellWord(root)} && ` : ''
  const runs = shown.map(({ declared }) => place + line(declared.command))
  // The list above has them, unless quoting changes them.
  const isListed = runs.every(
    (run, at) => quoted(shown[at]?.declared.command ?? '') === `"${run}"` && !run.includes('`'),
  )
  const more = commands.length - shown.length
  const fence = fenceFor(runs)
  const isRed = shown.some(({ kind }) => kind === 'red')
  const isHollow = shown.every(({ text }) => text.startsWith('proves nothing'))
  return partOf(
    `${change === null ? 'The working tree changed' : `Changed: ${namedFiles(change)}`}. These commands have no green run for the current tree:`,
    shown.map(({ declared, text }) => `- ${quoted(declared.command)}: ${text}.`),
    more > 0 ? `- and ${more} more.` : null,
    '',
    isSelf
      ? `The guard ran them itself in ${quoted(root)}, and does so at every stop. Fix what fails, then stop again.`
      : [
          `${isHollow ? 'Put back what keeps it from failing, or tell the user why it must be so. ' : ''}${isRed ? 'Fix what fails. ' : ''}Run ${isListed ? 'each' : 'these'} in ${quoted(root)} after the last edit, ${isListed ? '' : 'each '}unchanged, in its own call and in the foreground${isListed ? '.' : ':'}`,
          ...(isListed ? [] : [`${fence}sh`, ...runs, fence]),
        ],
    !isSelf && traits.hidesExitCodes === true
      ? [
          'This agent does not report to its hooks how commands end. `gantry guard verify` runs them and records the evidence.',
          ...otherSpelling(program),
        ]
      : null,
  )
}

/** A login shell, such as the one Codex starts, has another PATH. */
function otherSpelling(program: Refusal['program']): readonly string[] {
  return program === null
    ? []
    : [`If the shell does not find it: ${program.map(shellWord).join(' ')} guard verify`]
}

function shellWord(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`
}

function nothingKnownPart({ blockers, idle }: Refusal): string | null {
  if (!blockers.nothingKnown) return null
  return partOf(
    'The working tree changed, and no verification command of this project is known.',
    idle.length > 0 ? `Declared, but these always succeed: ${idle.map(quoted).join(', ')}.` : null,
    'Declare one as a bullet with the command in backticks in AGENTS.md or in the section Verification of IMPLEMENTATION_PLAN.md. A person can also add it under `verification_commands` in harness.json.',
    'If the project has no checks, a person sets `middleware.pre_completion_checklist.require_verification` to `false` in harness.json. Until then, say in your answer how the change was checked, and what was not.',
  )
}

function weakenedPart(weakened: readonly string[]): string | null {
  if (weakened.length === 0) return null
  const more = weakened.length - maxWeakened
  return partOf(
    'The tests were weakened since the session began or they were last green:',
    weakened.slice(0, maxWeakened).map((each) => `- ${printable(each, 400)}.`),
    more > 0 ? `- and ${more} more.` : null,
    'Put back what the user did not ask for. If the user asked for it, say so in your answer and stop again: this is refused only once. The user sees this list in any case, and work with fewer tests or another check does not end as verified.',
  )
}

function planPart({ plan }: Blockers): string | null {
  if (plan === null) return null
  const { asked, total, done, isClaimedDone } = plan
  const [next] = plan.open
  return partOf(
    `IMPLEMENTATION_PLAN.md has ${counted(total - done, 'open task')} of ${total}.${isClaimedDone ? ' Your last message says that none is left.' : ''}`,
    asked === null ? null : `${asked.done} of the ${counted(asked.tasks, 'task')} asked for are done.`,
    next === undefined ? null : `The next one, quoted from the file: ${quoted(next)}`,
  )
}

function line(command: string): string {
  return printable(command, maxCommandChars)
}

/** Text of the repository is quoted as data. */
function quoted(text: string): string {
  return JSON.stringify(printable(text, 200))
}

function fenceFor(lines: readonly string[]): string {
  const longest = Math.max(
    2,
    ...lines.flatMap((each) => (each.match(/`+/g) ?? []).map(({ length }) => length)),
  )
  return '`'.repeat(longest + 1)
}
