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
import { sealedPaths } from '../../guard-engine/seal/own-paths.ts'
import { sealFiles } from '../../guard-engine/seal/seal-files.ts'
import { installHooks } from '../../guard-install/install-hooks.ts'
import { ownPlace } from '../../guard-install/own-place.ts'
import { makeDirectories, readTextIfExists } from '../../io/directory.ts'
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
    throw new GantryError(
      'SPAWN_FAILED',
      `${agent} cannot be run by a program, so nothing can be shown in it`,
      {
        hint: 'gantry guard status tells what is installed for it.',
      },
    )
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

/** Files, hooks and seal, in the order in which a person would make them. */
async function makeProject(request: ProjectRequest): Promise<GuardedProject> {
  const { setup, directory } = request
  for (const name of ['project', 'home', 'tmp']) makeDirectories(join(directory, name))
  const root = realPath(join(directory, 'project'))
  const home = realPath(join(directory, 'home'))
  const tmp = realPath(join(directory, 'tmp'))
  const env = hermeticEnv({ host: request.env, home, tmp })
  for (const [path, text] of Object.entries(setup.files ?? {})) writeFileAtomic(join(root, path), text)
  if (setup.settings !== undefined) writeJsonAtomic(join(root, 'harness.json'), setup.settings)
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

async function install(
  { agent, setup, program }: ProjectRequest,
  place: HookPlace & Pick<GuardedProject, 'env'>,
): Promise<void> {
  await installHooks({
    agents: [agent],
    scope: 'project',
    place,
    program: setup.program ?? program,
    eventsOf: (one) => hookCodecs[one].events,
    checkPerson: async () => {},
    seal: (files) => sealProject(place.root, place.env, files),
    isSealed: false,
    dryRun: false,
  })
}

async function sealProject(
  root: string,
  env: Readonly<Record<string, string>>,
  files: readonly string[],
): Promise<void> {
  const paths = [...new Set([...sealedPaths(ownPlace(root, env)), ...files])]
  const note = { kind: 'sealed', files: await sealFiles(paths) } as const
  appendNote({ guardHome: guardHome(env), root, note, nowMs: Date.now() })
}
