import type { VerifierResponse } from './contract.ts'
import { diagnose } from './diagnose.ts'
import { ciPlaces, type Proposed, type ProposedStep } from './propose-agent-file.ts'

export interface Tried {
  readonly proposed: Proposed
  readonly response: VerifierResponse
  /** For people: what is not in the proposal, and why. */
  readonly leftOut: readonly string[]
}

/** Each costs the time of an installation and of the steps before. */
const maxAttempts = 8

/** Runs a proposal, and changes it by what its failures show, until it passes or nothing more is known. */
export async function tryProposal(
  first: Proposed,
  repository: string,
  attempt: (proposed: Proposed) => Promise<VerifierResponse>,
  say: (line: string) => void,
): Promise<Tried> {
  const seen = new Set<string>()
  const run = (proposed: Proposed): Promise<VerifierResponse> => {
    seen.add(JSON.stringify(proposed))
    return attempt(proposed)
  }
  const improve = async (best: Tried): Promise<Tried> => {
    const failure = failureOf(best, repository)
    if (failure === null) return best
    for (const { proposed, how, leftOut = [] } of changesFor(best.proposed, failure)) {
      if (seen.size === maxAttempts || seen.has(JSON.stringify(proposed))) continue
      const why = failure.known === null ? '' : ` (missing: ${failure.known.subject})`
      say(`${failure.step.command} failed${why}. Trying ${how}`)
      const next = { proposed, response: await run(proposed), leftOut: [...best.leftOut, ...leftOut] }
      if (isBetter(failure, next, repository)) return improve(next)
    }
    return best
  }
  return improve({ proposed: first, response: await run(first), leftOut: [] })
}

type Failure = NonNullable<ReturnType<typeof failureOf>>

function failureOf({ proposed, response }: Tried, repository: string) {
  const { failed_step: failed, tail_log } = response
  const step = [...proposed.setup, ...proposed.steps][failed?.index ?? -1]
  if (failed === undefined || step === undefined) return null
  const output = tail_log.slice(Math.max(0, tail_log.lastIndexOf(`$ ${step.command}`)))
  const known = diagnose(failed, output, proposed, repository)
  return { step, isSetup: proposed.setup.includes(step), output, known, hint: response.hint }
}

interface Change {
  readonly proposed: Proposed
  /** For people. */
  readonly how: string
  readonly leftOut?: readonly string[]
}

/** The best first. */
function changesFor(proposed: Proposed, { step, isSetup, known, output, hint }: Failure): readonly Change[] {
  const { setup, steps } = proposed
  const replaced = (...others: readonly ProposedStep[]): Proposed => ({
    ...proposed,
    setup: setup.flatMap((each) => (each === step ? others : [each])),
    steps: steps.flatMap((each) => (each === step ? others : [each])),
  })
  const { setup: installs = [], buildFirst, network } = known ?? {}
  const build = buildFirst && { command: buildFirst, kind: 'build', source: `for ${step.command}` }
  const { kind } = step
  const isFromCi = ciPlaces.some((place) => step.source.startsWith(place))
  // The only test stays, and so does one that ran and is red.
  const canGo =
    steps.some((each) => each !== step && each.kind === 'test') &&
    (isFromCi || (kind === 'test' ? known !== null : kind !== 'build'))
  const why = hint?.split('\n', 1)[0]?.replace(/:$/, '.') ?? 'It fails.'
  return [
    ...installs.map((install) => ({
      proposed: isSetup ? replaced(install, step) : { ...proposed, setup: [...setup, install] },
      how: `with setup: ${install.command}`,
    })),
    ...(build ? [{ proposed: replaced(build, step), how: `with a build before it: ${build.command}` }] : []),
    ...(network
      ? [{ proposed: replaced({ ...step, network }), how: 'with the network for this step.' }]
      : []),
    ...replacements.flatMap(([pattern, reason, instead]) => {
      const command = step.command.replace(pattern, instead)
      const isMeant = command !== step.command && reason.test(output)
      return isMeant ? [{ proposed: replaced({ ...step, command }), how: `instead: ${command}` }] : []
    }),
    ...(isSetup || (canGo && step.explicit !== true)
      ? [{ proposed: replaced(), how: 'without it.', leftOut: [`${step.command} (${step.source}). ${why}`] }]
      : []),
  ]
}

/** What to run instead, when the output says why. */
const replacements: readonly (readonly [command: RegExp, why: RegExp, instead: string])[] = [
  [
    /^npm ci$/,
    /package\.json and package-lock\.json|in sync|can only install with an existing/,
    'npm install',
  ],
  [/^(?=(?:pnpm|yarn) )/, /corepack[\s\S]*(?:signature found|keyid)/i, 'COREPACK_INTEGRITY_KEYS=0 '],
  [/ --frozen-lockfile$/, /frozen|lockfile|out of date|not up to date/i, ''],
  [/^cmake -S/, /CMakeCache\.txt directory|does not match the source/, 'rm -rf build && cmake -S'],
]

/** A change counts when it solves what it was made for. */
function isBetter({ step, isSetup, known }: Failure, next: Tried, repository: string): boolean {
  const after = failureOf(next, repository)
  if (after === null) return next.response.status === 'PASS'
  const { setup, steps } = next.proposed
  const isSame = isSetup && after.isSetup && after.step.source === step.source
  if (isSame || after.step.command === step.command) return after.known?.subject !== known?.subject
  // Without an installation, the first step has to pass.
  const isLeftOut = isSetup && setup.every(({ source }) => source !== step.source)
  if (isLeftOut) return !after.isSetup && after.step !== steps[0]
  return (isSetup || !after.isSetup) && after.step.source !== `for ${step.command}`
}
