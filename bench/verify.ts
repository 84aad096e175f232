import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { startSandboxes } from '../scripts/sandboxes/start.ts'
import { testImages } from '../scripts/sandboxes/test-images.ts'
import { verifyRepository } from '../src/library/verify-repository.ts'
import { compare, type Figure, inTemporary } from './figure.ts'

const gantry = join(import.meta.dirname, '../dist/cli/bin.js')

/** What Gantry adds to a sandbox that does nothing: its start, the hashes, the run directory, the logs. */
export function verifyOnBubblewrap(): Promise<Figure> {
  needsProgram('bwrap', ['--version'], 'apt-get install bubblewrap')
  return inTemporary(async (base) => {
    const verify = prepare(base, 'bubblewrap', 'none')
    verify()
    return compare({
      name: 'gantry verify with one true step on bubblewrap',
      atMost: 2.5,
      baseline: 'bwrap true and a start of Node',
      rounds: 15,
      ours: verify,
      theirs: () => {
        run(process.execPath, ['--eval', '0'])
        run('bwrap', ['--ro-bind', '/', '/', '--unshare-all', '--die-with-parent', 'true'])
      },
    })
  })
}

export async function verifyOnDocker(): Promise<Figure> {
  const env = await dockerEnvironment()
  const image = testImages.full
  return inTemporary(async (base) => {
    const verify = prepare(base, 'docker', image, env)
    verify()
    return compare({
      name: 'gantry verify with one true step on docker',
      atMost: 1.25,
      baseline: 'docker run --rm true',
      rounds: 9,
      ours: verify,
      theirs: () =>
        run('docker', ['run', '--rm', '--pull', 'never', '--network', 'none', image, 'true'], { env }),
    })
  })
}

export function verifyInLoop(): Promise<Figure> {
  needsProgram('bwrap', ['--version'], 'apt-get install bubblewrap')
  return loopOn('bubblewrap', 'none', 0.6, process.env)
}

export async function verifyInLoopOnDocker(): Promise<Figure> {
  return loopOn('docker', testImages.full, 0.9, await dockerEnvironment())
}

/** A further verification in the process of a task, which has loaded everything, against a process of its own. */
function loopOn(
  sandbox: 'bubblewrap' | 'docker',
  image: string,
  atMost: number,
  surroundings: NodeJS.ProcessEnv,
): Promise<Figure> {
  return inTemporary(async (base) => {
    const verify = prepare(base, sandbox, image, surroundings)
    const again = () =>
      verifyRepository({
        repository: join(base, 'repository'),
        sandbox,
        env: placesIn(base, surroundings),
      })
    verify()
    await again()
    return compare({
      name: `a further verification in the debug loop of a task on ${sandbox}`,
      atMost,
      baseline: 'gantry verify',
      rounds: 15,
      ours: again,
      theirs: verify,
    })
  })
}

async function dockerEnvironment(): Promise<NodeJS.ProcessEnv> {
  const started = await startSandboxes()
  if (started.kind === 'absent') throw new Error(`this figure needs Docker Engine: ${started.why}`)
  return { ...process.env, DOCKER_HOST: started.dockerHost }
}

function prepare(
  base: string,
  sandbox: string,
  image: string,
  surroundings: NodeJS.ProcessEnv = process.env,
): () => void {
  const repository = join(base, 'repository')
  mkdirSync(repository)
  const step = 'steps: [{ name: nothing, command: "true" }]'
  writeFileSync(join(repository, 'agent.yaml'), `verification:\n  container_image: ${image}\n  ${step}\n`)
  const git = (...args: readonly string[]) => execFileSync('git', args, { cwd: repository, stdio: 'ignore' })
  git('init', '-q')
  git('add', '-A')
  git('-c', 'user.name=bench', '-c', 'user.email=bench@example.com', 'commit', '-q', '-m', 'all')
  const env = placesIn(base, surroundings)
  return () =>
    run(process.execPath, [gantry, 'verify', '--json', '--sandbox', sandbox], { cwd: repository, env })
}

function placesIn(base: string, surroundings: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return {
    ...surroundings,
    AGENT_ARTIFACT_DIR: join(base, 'store'),
    GANTRY_GUARD_HOME: join(base, 'guard'),
    XDG_CACHE_HOME: join(base, 'cache'),
  }
}

/** Without its baseline the figure cannot be measured. */
function needsProgram(program: string, args: readonly string[], remedy: string): void {
  const { status, error } = spawnSync(program, args, { stdio: 'ignore' })
  if (status !== 0)
    throw new Error(`this figure needs ${program} (${error?.message ?? `exit ${status}`}): ${remedy}`)
}

function run(
  program: string,
  args: readonly string[],
  options: { readonly cwd?: string; readonly env?: NodeJS.ProcessEnv } = {},
): void {
  const { status, stdout, stderr } = spawnSync(program, args, { ...options, encoding: 'utf8' })
  if (status !== 0) throw new Error(`${program} ${args.join(' ')} ended with ${status}: ${stderr}${stdout}`)
}
