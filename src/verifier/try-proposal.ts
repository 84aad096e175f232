import { kindOfCommand } from '../core/kind-of-command.ts'
import type { VerifierResponse } from './contract.ts'
import { type Diagnosis, diagnose } from './diagnose.ts'
import type { Install } from './installs-for.ts'
import type { Proposed, ProposedStep } from './propose-agent-file.ts'

export interface Tried {
  readonly proposed: Proposed
  /** Of the last attempt that counts. */
  readonly response: VerifierResponse
  /** What is not in the proposal, and why. */
  readonly leftOut: readonly LeftOut[]
}

export interface LeftOut {
  readonly step: ProposedStep
  readonly why: string
}

/** Each costs the time of an installation and of the steps before. */
const maxAttempts = 8

/** Runs a proposal, and changes it by what its failures show, until it passes or nothing more is known. */
export async function tryProposal(
  proposed: Proposed,
  repository: string,
  attempt: (proposed: Proposed) => Promise<VerifierResponse>,
  say: (line: string) => void,
): Promise<Tried> {
  let best: Tried = { proposed, response: await attempt(proposed), leftOut: [] }
  const seen = new Set([keyOf(proposed)])
  for (;;) {
    const failure = failureOf(best, repository)
    if (failure === null) return best
    let better: Tried | null = null
    for (const change of changesFor(best.proposed, failure)) {
      if (seen.size === maxAttempts || better !== null) break
      if (seen.has(keyOf(change.proposed))) continue
      seen.add(keyOf(change.proposed))
      say(change.say)
      const response = await attempt(change.proposed)
      const leftOut = [...best.leftOut, ...(change.leftOut === undefined ? [] : [change.leftOut])]
      const next = { proposed: change.proposed, response, leftOut }
      if (isBetter(failure, next, change, repository)) better = next
    }
    if (better === null) return best
    best = better
  }
}

interface Failure {
  readonly step: ProposedStep
  readonly isSetup: boolean
  readonly output: string
  readonly exitCode: number | null
  readonly known: Diagnosis | null
}

function failureOf(
  { proposed, response }: Pick<Tried, 'proposed' | 'response'>,
  repository: string,
): Failure | null {
  const { failed_step, tail_log } = response
  const step = failed_step && [...proposed.setup, ...proposed.steps][failed_step.index]
  if (failed_step === undefined || step === undefined) return null
  const output = tail_log.slice(Math.max(0, tail_log.lastIndexOf(`$ ${step.command}`)))
  const setup = proposed.setup.map((each) => ({ ...each, timeoutMs: 1 }))
  const known = diagnose(failed_step, output, { image: proposed.image, setup }, repository)
  return { step, isSetup: proposed.setup.includes(step), output, exitCode: failed_step.exit_code, known }
}

interface Change {
  readonly proposed: Proposed
  /** For people: what failed, and what is tried next. */
  readonly say: string
  readonly leftOut?: LeftOut
}

/** The best first. */
function changesFor(proposed: Proposed, failure: Failure): readonly Change[] {
  const { step, isSetup, known, output } = failure
  const { setup, steps } = proposed
  const changes: Change[] = []
  const failed = `${step.command} failed${known === null ? '' : `: ${known.subject}`}`
  const replaced = (other: ProposedStep): Proposed => ({
    ...proposed,
    setup: setup.map((each) => (each === step ? other : each)),
    steps: steps.map((each) => (each === step ? other : each)),
  })
  for (const install of known?.setup ?? []) {
    const at = isSetup ? setup.indexOf(step) : setup.length
    changes.push({
      proposed: { ...proposed, setup: setup.toSpliced(at, 0, asStep(install, setup)) },
      say: `${failed} is missing. Trying with setup: ${install.command}`,
    })
  }
  if (known?.buildFirst !== undefined) {
    const build = { name: 'build', command: known.buildFirst, source: `for ${step.command}` }
    changes.push({
      proposed: { ...proposed, steps: steps.toSpliced(steps.indexOf(step), 0, build) },
      say: `${failed}. Trying with a build before it: ${build.command}`,
    })
  }
  if (known?.network === 'allow')
    changes.push({
      proposed: replaced({ ...step, network: 'allow' }),
      say: `${failed}. Trying with the network for this step.`,
    })
  for (const [command, why, instead] of replacements) {
    const changed = step.command.replace(command, instead)
    if (changed === step.command || !why.test(output)) continue
    changes.push({
      proposed: replaced({ ...step, command: changed }),
      say: `${failed}. Trying instead: ${changed}`,
    })
  }
  const isOnlyTest = !isSetup && steps.filter(isTest).length === (isTest(step) ? 1 : 0)
  const isNeeded = !isSetup && (isOnlyTest || step.explicit === true || (isTest(step) && known === null))
  if (!isNeeded) {
    const why = known === null ? `it fails (exit code ${failure.exitCode})` : firstLine(known.hint)
    changes.push({
      proposed: {
        ...proposed,
        setup: setup.filter((each) => each !== step),
        steps: steps.filter((each) => each !== step),
      },
      say: `${failed}. Trying without it.`,
      leftOut: { step, why },
    })
  }
  return changes
}

function isTest({ command }: ProposedStep): boolean {
  return kindOfCommand(command) === 'test'
}

function asStep(install: Install, setup: readonly ProposedStep[]): ProposedStep {
  return { ...install, name: setup.length === 0 ? 'install' : `install ${setup.length + 1}` }
}

function firstLine(text: string): string {
  return text.split('\n', 1)[0] ?? ''
}

/** What to run instead, when the output says why. */
const replacements: readonly (readonly [command: RegExp, why: RegExp, instead: string])[] = [
  [
    /^npm ci$/,
    /package\.json and package-lock\.json|are (?:not )?in sync|can only install with an existing/,
    'npm install',
  ],
  [/ --frozen-lockfile$/, /frozen|lockfile|out of date|not up to date/i, ''],
  [/^cmake -S/, /CMakeCache\.txt directory|does not match the source/, 'rm -rf build && cmake -S'],
]

/** A change counts when it solves what it was made for. */
function isBetter(before: Failure, next: Tried, { proposed, leftOut }: Change, repository: string): boolean {
  if (next.response.status !== 'FAIL') return next.response.status === 'PASS'
  const after = failureOf(next, repository)
  if (after === null) return false
  const isNew = ![...proposed.setup, ...proposed.steps].some(({ command }) => command === before.step.command)
  // Without an installation, steps that miss packages are no progress.
  if (leftOut !== undefined && before.isSetup) return after.known === null && !after.isSetup
  if (isNew) return true
  return after.step.command !== before.step.command
    ? !(after.isSetup && !before.isSetup) && after.step.source !== `for ${before.step.command}`
    : after.known?.subject !== before.known?.subject
}

function keyOf({ setup, steps }: Proposed): string {
  return JSON.stringify([...setup, '', ...steps])
}
