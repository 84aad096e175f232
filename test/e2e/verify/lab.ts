import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { VerifierResponse } from '../../../src/verifier/contract.ts'
import { type GantryOptions, type GantryResult, gantry } from '../support/gantry.ts'
import { makeProject, type TestProject } from '../support/project.ts'

export interface Verification {
  readonly steps: readonly (string | Readonly<Record<string, unknown>>)[]
  /** Further keys of `verification`. */
  readonly verification?: Readonly<Record<string, unknown>>
  /** Further keys of agent.yaml. */
  readonly top?: Readonly<Record<string, unknown>>
  readonly files?: Readonly<Record<string, unknown>>
  readonly git?: boolean
}

/** A repository with an agent.yaml. */
export function verifiedProject({ steps, verification, top, files, git = true }: Verification): TestProject {
  const project = makeProject({
    'agent.yaml': {
      verification: {
        container_image: 'toy:1',
        steps: steps.map((step, index) =>
          typeof step === 'string' ? { name: `step ${index + 1}`, command: step } : step,
        ),
        ...verification,
      },
      ...top,
    },
    'a.txt': 'one\n',
    ...files,
  })
  if (git) commitAll(project.dir)
  return project
}

export function commitAll(dir: string): void {
  const run = (...args: readonly string[]) => execFileSync('git', args, { cwd: dir, stdio: 'ignore' })
  if (!existsSync(join(dir, '.git'))) run('init', '-q')
  run('add', '-A')
  run('-c', 'user.name=n', '-c', 'user.email=n@example.com', 'commit', '-qm', 'all')
}

/** `gantry verify --json` on an engine, parsed. */
export async function verifyJson(
  project: TestProject,
  argv: readonly string[] = [],
  options: GantryOptions = {},
): Promise<VerifierResponse & { readonly result: GantryResult }> {
  const result = await gantry(project, ['verify', '--json', ...sandboxOf(argv), ...argv], options)
  if (result.stdout === '') throw new Error(`exit ${result.code}: ${result.stderr}`)
  return { ...(JSON.parse(result.stdout) as VerifierResponse), result }
}

function sandboxOf(argv: readonly string[]): readonly string[] {
  return argv.includes('--sandbox') ? [] : ['--sandbox', 'bubblewrap']
}

export function runsIn({ store }: TestProject): readonly string[] {
  const runs = join(store, 'runs')
  return existsSync(runs) ? readdirSync(runs).filter((name) => name.startsWith('run_')) : []
}

export function runDir(project: TestProject, runId: string | null): string {
  if (runId === null) throw new Error('no run')
  return join(project.store, 'runs', runId)
}
