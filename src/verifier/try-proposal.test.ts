import { createFixture } from 'fs-fixture'
import { expect, test } from 'vitest'
import { kindOfCommand } from '../core/kind-of-command.ts'
import type { VerifierResponse } from './contract.ts'
import { diagnose } from './diagnose.ts'
import type { Proposed, ProposedStep } from './propose-agent-file.ts'
import { tryProposal } from './try-proposal.ts'

/** What a command prints, and its exit code; `null`: it passes. */
type World = (command: string, proposed: Proposed) => readonly [output: string, exitCode: number] | null

const step = (command: string, more: Partial<ProposedStep> = {}): ProposedStep => ({
  ...{ kind: kindOfCommand(command), command, source: 'package.json' },
  ...more,
})

/** Runs the steps of a proposal as the Verifier does: until the first that fails. */
async function run(
  {
    setup = [],
    steps,
  }: { readonly setup?: readonly string[]; readonly steps: readonly (string | ProposedStep)[] },
  world: World,
  files: Record<string, string> = {
    'package.json': '{"scripts": {"build": "tsc"}}',
    'package-lock.json': '{}',
  },
) {
  await using fixture = await createFixture(files)
  const said: string[] = []
  let attempts = 0
  const first: Proposed = {
    image: 'x:1',
    setup: setup.map((command) => step(command)),
    steps: steps.map((each) => (typeof each === 'string' ? step(each) : each)),
  }
  const attempt = async (proposed: Proposed): Promise<VerifierResponse> => {
    attempts += 1
    const common = { run_id: 'r', artifact_paths: [], manifest: null }
    for (const [index, { command }] of [...proposed.setup, ...proposed.steps].entries()) {
      const end = world(command, proposed)
      if (end === null) continue
      const [output, exit_code] = end
      const failed_step = { name: 'step', command, exit_code, duration_ms: 1, index, timed_out: false }
      const known = diagnose(failed_step, output, { ...proposed, engine: 'bubblewrap' }, fixture.path)
      const hint = known === null ? {} : { hint: known.hint }
      return { ...common, ...hint, status: 'FAIL', tail_log: `$ ${command}\n\n${output}`, failed_step }
    }
    return { ...common, status: 'PASS', tail_log: '' }
  }
  const tried = await tryProposal(first, fixture.path, attempt, (line) => said.push(line))
  const commands = (list: readonly ProposedStep[]): readonly string[] => list.map(({ command }) => command)
  return {
    status: tried.response.status,
    setup: commands(tried.proposed.setup),
    steps: commands(tried.proposed.steps),
    networks: tried.proposed.steps.map(({ network }) => network),
    leftOut: tried.leftOut,
    ...{ attempts, said },
  }
}

const hasSetup = (proposed: Proposed, command: string): boolean =>
  proposed.setup.some((each) => each.command === command)

test('what passes is not changed', async () => {
  expect(await run({ steps: ['npm test'] }, () => null)).toMatchObject({
    status: 'PASS',
    attempts: 1,
    leftOut: [],
  })
})

test('a missing package is installed in setup', async () => {
  const tried = await run({ steps: ['npm test'] }, (command, proposed) =>
    command === 'npm test' && !hasSetup(proposed, 'npm ci') ? ['sh: 1: vitest: not found\n', 127] : null,
  )
  expect(tried).toMatchObject({ status: 'PASS', setup: ['npm ci'], attempts: 2 })
  expect(tried.said).toEqual(['npm test failed (missing: vitest). Trying with setup: npm ci'])
})

test('a package manager that the sandbox lacks is installed before it is used, in the version of package.json', async () => {
  const tool = 'npm install --global --prefix ~/.local pnpm@9.1.2'
  const tried = await run(
    { setup: ['pnpm install'], steps: ['pnpm test'] },
    (command, proposed) =>
      command.startsWith('pnpm ') && !hasSetup(proposed, tool) ? ['sh: 1: pnpm: not found\n', 127] : null,
    { 'package.json': '{"packageManager": "pnpm@9.1.2+sha512.ab"}' },
  )
  expect(tried).toMatchObject({ status: 'PASS', setup: [tool, 'pnpm install'] })
})

test('a Corepack without the keys of a package manager gets it all the same', async () => {
  const tried = await run({ setup: ['pnpm install --frozen-lockfile'], steps: ['pnpm test'] }, (command) =>
    command.startsWith('pnpm install')
      ? ['at /usr/lib/node_modules/corepack/dist/lib/corepack.cjs\nError: No compatible signature found\n', 1]
      : null,
  )
  const setup = ['COREPACK_INTEGRITY_KEYS=0 pnpm install --frozen-lockfile']
  expect(tried).toMatchObject({ status: 'PASS', setup, steps: ['pnpm test'] })
})

test('another way to install that fails too is not kept', async () => {
  const setup = ['pnpm install --frozen-lockfile']
  const tried = await run({ setup, steps: ['pnpm test'] }, (command) =>
    command.startsWith('pnpm') ? ['ERR_PNPM_BAD_CONFIG_DEP in the lockfile\n', 1] : null,
  )
  expect(tried).toMatchObject({ status: 'FAIL', setup })
})

test('a file that a build makes is built before the tests', async () => {
  const tried = await run({ steps: ['npm test'] }, (command, proposed) =>
    command === 'npm test' && proposed.steps.length === 1
      ? ["Error: Cannot find module '/workspace/dist/a.js'\n", 1]
      : null,
  )
  expect(tried).toMatchObject({ status: 'PASS', setup: [], steps: ['npm run build', 'npm test'] })
})

test.each(['.github/workflows/ci.yml', '.gitlab-ci.yml', 'Jenkinsfile'])(
  'a build of %s that fails is left out beside a test',
  async (source) => {
    const tried = await run(
      { steps: [step('npm run pack', { source, kind: 'build' }), 'npm test'] },
      (command) => (command === 'npm run pack' ? ['no key\n', 1] : null),
    )
    expect(tried).toMatchObject({ status: 'PASS', steps: ['npm test'] })
    expect(tried.leftOut.join()).toContain(`npm run pack (${source})`)
  },
)

test('a lock file that is out of date, and a step that needs the network', async () => {
  const tried = await run({ setup: ['npm ci'], steps: ['npm test'] }, (command, { steps }) => {
    if (command === 'npm ci') return ['npm ci can only install when they are in sync\n', 1]
    return command === 'npm test' && steps[0]?.network === undefined
      ? ['getaddrinfo EAI_AGAIN a.example\n', 1]
      : null
  })
  expect(tried).toMatchObject({ status: 'PASS', setup: ['npm install'], networks: ['allow'] })
})

test('a tool that the sandbox lacks is left out and reported, but not the only test', async () => {
  const lacks: World = (command) =>
    /^(?:golangci-lint|frob)/.test(command) ? [`sh: 1: ${command.split(' ')[0]}: not found\n`, 127] : null
  const tried = await run({ steps: ['go test ./...', 'golangci-lint run'] }, lacks, {})
  expect(tried).toMatchObject({ status: 'PASS', steps: ['go test ./...'] })
  expect(tried.leftOut.join()).toContain(
    'golangci-lint run (package.json). The program golangci-lint is not in the directories of this machine',
  )
  expect(await run({ steps: ['frob test'] }, lacks, {})).toMatchObject({
    status: 'FAIL',
    steps: ['frob test'],
    attempts: 1,
  })
})

test('a lint that fails is left out unless a person wrote it down; a red test never is', async () => {
  const red =
    (what: string): World =>
    (command) =>
      command === what ? ['2 problems\n', 1] : null
  expect(await run({ steps: ['npm test', 'npm run lint'] }, red('npm run lint'))).toMatchObject({
    status: 'PASS',
    leftOut: ['npm run lint (package.json). It fails.'],
  })
  const explicit = [step('npm test'), step('npm run lint', { explicit: true })]
  expect(await run({ steps: explicit }, red('npm run lint'))).toMatchObject({ status: 'FAIL', attempts: 1 })
  expect(await run({ steps: ['npm test', 'pytest'] }, red('npm test'))).toMatchObject({
    status: 'FAIL',
    attempts: 1,
  })
})

test('an installation that fails is left out only if the steps do not need it', async () => {
  const offline: World = (command) => (command === 'npm ci' ? ['npm error code ENOTFOUND\n', 1] : null)
  expect(await run({ setup: ['npm ci'], steps: ['npm test'] }, offline)).toMatchObject({
    status: 'PASS',
    setup: [],
  })
  const needed: World = (command) =>
    offline(command, step as never) ?? (command === 'npm test' ? ['sh: 1: vitest: not found\n', 127] : null)
  expect(await run({ setup: ['npm ci'], steps: ['npm test'] }, needed)).toMatchObject({
    ...{ status: 'FAIL', setup: ['npm ci'], leftOut: [] },
  })
})

test('the number of attempts is bounded', async () => {
  const steps = Array.from({ length: 12 }, (_, index) => `npm run lint:${index}`)
  expect(
    (await run({ steps: ['npm test', ...steps] }, (command) => (command === 'npm test' ? null : ['x', 1])))
      .attempts,
  ).toBe(8)
})
