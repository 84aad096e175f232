import { join } from 'node:path'
import type { AgentDriver, AgentProbe } from '../../agents/contract.ts'
import { hookCodecs } from '../../agents/hook-codecs.ts'
import type { HookPlace } from '../../agents/hook-installer.ts'
import { hookTraitsOf } from '../../agents/hook-installers.ts'
import { agentSchema, createAgent } from '../../agents/index.ts'
import { GantryError } from '../../core/error.ts'
import { guardHome } from '../../guard-engine/ledger/ledger-place.ts'
import { appendNote } from '../../guard-engine/ledger/open-ledger.ts'
import { ledgerFiles, readLedger } from '../../guard-engine/ledger/read-ledger.ts'
import { sealedPaths } from '../../guard-engine/seal/guarded-paths.ts'
import { sealNote } from '../../guard-engine/seal/seal-files.ts'
import { guardLocation } from '../../guard-install/guard-location.ts'
import { installHooks } from '../../guard-install/install-hooks.ts'
import { makeDirectories, readTextIfExists } from '../../io/directory.ts'
import { exec } from '../../io/exec.ts'
import { writeFileAtomic, writeJsonAtomic } from '../../io/files.ts'
import { hermeticEnv } from '../../io/hermetic-env.ts'
import { realPath } from '../../io/resolve-links.ts'
import type { GuardedProject, ProjectSetup, ProofStage, StageOptions } from './contract.ts'
import { playScript } from './play-script.ts'

/** Throws GantryError SPAWN_FAILED when the agent cannot be run. */
export async function openStage(options: StageOptions): Promise<ProofStage> {
  const { agent, scratch, signal } = options
  const traits = hookTraitsOf(agent).proof
  if (traits === null)
    throw new GantryError('SPAWN_FAILED', `${agent} cannot be run without a user, so it cannot be proven`, {
      hint: 'gantry guard status shows what is installed for it.',
    })
  const driverWith = (more: Readonly<Record<string, unknown>>): AgentDriver =>
    createAgent(
      agent,
      agentSchema.parse({ ...traits.config, ...options.config, ...more, driver: agent, home: 'isolated' }),
      { base: options.base },
    )
  const probe = await probeIn(driverWith({}), options)
  if (!probe.found)
    throw new GantryError('SPAWN_FAILED', `${agent} cannot be run: ${probe.problem ?? 'it was not found'}`)
  let projects = 0
  return {
    agent,
    version: probe.version,
    capabilities: hookCodecs[agent].capabilities,
    traits,
    program: options.program,
    nowhere: join(scratch, 'nowhere'),
    project: (setup = {}) => {
      projects += 1
      return makeProject({
        ...options,
        setup,
        driverWith,
        directory: join(scratch, String(projects)),
        signal,
      })
    },
  }
}

function probeIn(driver: AgentDriver, { env, scratch, signal }: StageOptions): Promise<AgentProbe> {
  const home = join(scratch, 'home')
  return driver.probe({ env: hermeticEnv({ host: env, home, tmp: scratch }), signal })
}

interface ProjectRequest extends StageOptions {
  readonly setup: ProjectSetup
  readonly driverWith: (more: Readonly<Record<string, unknown>>) => AgentDriver
  /** Absolute. */
  readonly directory: string
}

/** Writes files, hooks and seal in the order in which a user would. */
async function makeProject(request: ProjectRequest): Promise<GuardedProject> {
  const { setup, directory } = request
  for (const name of ['project', 'home', 'tmp']) makeDirectories(join(directory, name))
  const root = realPath(join(directory, 'project'))
  const home = realPath(join(directory, 'home'))
  const tmp = realPath(join(directory, 'tmp'))
  const env = hermeticEnv({ host: request.env, home, tmp })
  for (const [path, text] of Object.entries(setup.files ?? {})) writeFileAtomic(join(root, path), text)
  if (setup.settings !== undefined) writeJsonAtomic(join(root, 'harness.json'), setup.settings)
  if (setup.git === true) await commitAll(root, env)
  if (setup.bare !== true) await install(request, { root, home, env })
  return {
    root,
    home,
    env,
    play: (script, options) => playScript({ ...request, root, home, tmp, env }, script, options),
    ledger: () =>
      ledgerFiles(guardHome(env), root).flatMap((path) => readLedger(guardHome(env), path).entries),
    read: (path) => readTextIfExists(join(root, path)),
  }
}

/** In the repository itself, so that the agent can commit too. */
async function commitAll(root: string, env: Readonly<Record<string, string>>): Promise<void> {
  const commands = [
    ['init', '-q', '-b', 'main'],
    ['config', 'user.name', 'Gantry'],
    ['config', 'user.email', 'gantry@localhost'],
    ['add', '-A'],
    ['commit', '-qm', 'Start'],
  ]
  for (const command of commands) {
    const { exitCode } = await exec({ argv: ['git', ...command], cwd: root, env, timeoutMs: gitTimeoutMs })
    if (exitCode !== 0)
      throw new GantryError('SPAWN_FAILED', `git ${command[0]} failed in the scratch project`)
  }
}

const gitTimeoutMs = 30_000

async function install(
  { agent, setup, program }: ProjectRequest,
  place: HookPlace & Pick<GuardedProject, 'env'>,
): Promise<void> {
  await installHooks({
    agents: [agent],
    scope: 'project',
    place,
    program: setup.program ?? program,
    ...(setup.enforceKernel === true && { enforceKernel: true }),
    eventsOf: (one) => hookCodecs[one].events,
    checkPerson: async () => {},
    seal: (files) => sealProject(place.root, place.env, files),
    isSealed: false,
    dryRun: false,
  })
}

async function sealProject(root: string, env: Readonly<Record<string, string>>, files: readonly string[]) {
  const location = guardLocation(root, env)
  const note = sealNote(location, [...new Set([...sealedPaths(location), ...files])])
  appendNote({ guardHome: guardHome(env), root, note, nowMs: Date.now() })
}
