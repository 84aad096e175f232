import { join } from 'node:path'
import { z } from 'zod'
import { GantryError } from '../core/error.ts'
import { defined } from '../core/json-fields.ts'
import { choice } from '../core/schema.ts'
import { isDirectory } from '../io/path-kind.ts'
import { resolveInside } from '../io/resolve-inside.ts'
import { sha256 } from '../io/sha256.ts'
import { fileProblem, readYaml, type SourceFile } from '../io/yaml.ts'
import { sandboxNetworks } from '../sandboxes/contract.ts'
import { redirected } from './artifacts.ts'
import { type AgentFile, agentFileName } from './contract.ts'
import { parseSize } from './parse-size.ts'

export { agentFileName }

export type ReadAgentFile = ReturnType<typeof readAgentFile>

/** Reads and checks agent.yaml. `path` replaces the one in the root of the repository. */
export function readAgentFile(repository: string, path: string = join(repository, agentFileName)) {
  const source = readSource(path)
  const { value, text } = source
  const file: AgentFile = {
    verification: verificationOf(value),
    timeouts: {
      verificationStepMs: value.timeouts.verification_step,
      scoutQueryMs: value.timeouts.scout_query,
    },
    package: packageOf(source, repository),
  }
  return {
    path,
    /** The file as read at the start: later changes do not affect the run. */
    text,
    sha256: sha256(text),
    file,
  }
}

type Value = z.output<typeof agentFileSchema>

function readSource(path: string): SourceFile<Value> {
  try {
    return readYaml(path, agentFileSchema)
  } catch (error) {
    if (!(error instanceof GantryError && error.code === 'NOT_FOUND')) throw error
    throw new GantryError('NOT_FOUND', `configuration required: ${path} does not exist`, {
      hint: `Run gantry init to generate one, or write it, for example:\n\n${minimalFile}`,
      at: { file: path },
      cause: error,
    })
  }
}

const minimalFile = `verification:
  container_image: node:24
  workspace: overlay
  steps:
    - name: test
      command: npm test
`

function verificationOf({ verification, timeouts }: Value): AgentFile['verification'] {
  const { container_image, steps, setup, limits, env, ...rest } = verification
  const stepOf = ({ name, command, timeout, network }: z.output<typeof stepSchema>) =>
    defined({ name, command, timeoutMs: timeout ?? timeouts.verification_step, network })
  return {
    ...rest,
    image: container_image.trim(),
    ...(setup.length > 0 && { setup: setup.map((step) => ({ network: 'allow' as const, ...stepOf(step) })) }),
    steps: steps.map(stepOf),
    limits: {
      memoryBytes: parseSize(limits.memory),
      cpus: limits.cpus,
      pids: limits.pids,
      diskBytes: parseSize(limits.disk),
    },
    env: Object.fromEntries(Object.entries(env).map(([name, value]) => [name, String(value)])),
  }
}

function packageOf(source: SourceFile<Value>, repository: string): string | null {
  const named = source.value.monorepo?.package
  if (named === undefined) return null
  const problem = (message: string): GantryError =>
    fileProblem(source, ['monorepo', 'package'], `monorepo.package: ${message}`)
  const found = resolveInside(repository, named)
  if (found.kind === 'outside') throw problem(`${named} is not inside the repository: ${found.reason}`)
  if (found.kind === 'missing' || !isDirectory(found.path)) throw problem(`there is no directory ${named}`)
  return found.path.slice(repository.length).replace(/^\/+/, '') || '.'
}

/** The longest wait of a system timer. */
const maxTimeoutMs = 2_147_483_647

/** The Verifier sets these, because it creates the directories. */
const reservedVariables = Object.keys(redirected)

const notBlank = z.string().regex(/\S/, 'must be a non-empty string')

const milliseconds = z.int().positive().max(maxTimeoutMs)

const variableName = z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'is not a valid variable name')

const envSchema = z
  .record(
    variableName.refine((name) => !reservedVariables.includes(name), 'is set by the Verifier'),
    z.union([z.string().regex(/^[^\0]*$/, 'must not contain a NUL character'), z.number(), z.boolean()]),
  )
  .default({})
  .describe('Variables of every step. TMPDIR, TEST_DB_PATH and SNAPSHOT_DIR are set by the Verifier.')

const sizeSchema = z
  .union([
    z.int().positive(),
    z.string().regex(/^\d+(\.\d+)?\s*([kmgt]i?)?b?$/i, 'is not a size such as 256m, 8g or 1.5g'),
  ])
  .refine((size) => parseSize(size) >= 1024 * 1024, 'must be at least 1m')

const limitsSchema = z
  .strictObject({
    memory: sizeSchema
      .default('8g')
      .describe('Memory of a step with all its processes: 256m, 1.5g, or bytes.'),
    cpus: z.number().positive().max(4096).default(4).describe('Processors; fractions are allowed.'),
    pids: z
      .int()
      .positive()
      .max(4_194_304)
      .default(1024)
      .describe('Maximum number of processes and threads.'),
    disk: sizeSchema
      .default('2g')
      .describe('Disk for everything that steps write, with /artifacts and /tmp: 500m, 2g, or bytes.'),
  })
  .prefault({})
  .describe('Limits for all steps together.')

const networkSchema = z.enum(sandboxNetworks)

const stepSchema = z.strictObject({
  name: notBlank.describe('For people; any characters.'),
  command: notBlank
    .regex(/^[^\0]*$/, 'must not contain a NUL character')
    .describe('Run with `sh -c` in /workspace.'),
  timeout: milliseconds
    .optional()
    .describe(
      'Milliseconds after which the step is stopped with exit code 124. Default: timeouts.verification_step.',
    ),
  network: networkSchema
    .optional()
    .describe('Network of this step. Default: verification.network, in setup `allow`.'),
})

const cacheSchema = z.strictObject({
  name: z
    .string()
    .regex(/^[a-z0-9][a-z0-9._-]{0,63}$/, 'must be 1 to 64 of a-z, 0-9, ".", "_", "-"')
    .describe('Name of the cache: later runs of this repository with the same name use the same directory.'),
  path: z
    .string()
    .regex(/^\/[^\0]*$/, 'must be an absolute path inside the sandbox')
    .refine(isFreePlace, 'is reserved: choose a path outside /workspace, /artifacts, /proc, /sys and /dev')
    .describe('Absolute path inside the sandbox.'),
})

const verificationSchema = z.strictObject({
  container_image: notBlank.describe('Image for the steps; engines without images use the machine itself.'),
  setup: z
    .array(stepSchema)
    .default([])
    .describe(
      'Installs what the steps need. Run only when a lock file, a setup command or the image has changed; what it writes is kept for the steps.',
    ),
  steps: z.array(stepSchema).min(1).describe('Run in order. The first failure ends the run.'),
  workspace: choice(
    ['readonly', 'overlay'],
    'readonly',
    '`overlay`: steps may write to /workspace, and their changes are discarded.',
  ),
  network: networkSchema
    .default('none')
    .describe('`allow`: steps reach other machines. `host`: also services on the loopback of this one.'),
  limits: limitsSchema,
  env: envSchema,
  caches: z
    .array(cacheSchema)
    .default([])
    .superRefine((caches, context) => {
      for (const key of ['name', 'path'] as const) {
        const values = caches.map((cache) => cache[key])
        const twice = values.findIndex((value, index) => values.indexOf(value) !== index)
        if (twice !== -1)
          context.addIssue({ code: 'custom', path: [twice, key], message: 'is used by another cache' })
      }
    })
    .describe(
      'Directories for downloads, kept between runs. Only setup changes them, and only when the run passes.',
    ),
})

/** agent.yaml, in the root of the repository. */
export const agentFileSchema = z.strictObject({
  verification: verificationSchema.describe('How the project is verified.'),
  timeouts: z
    .strictObject({
      verification_step: milliseconds.default(300_000).describe('Timeout of one step, in milliseconds.'),
      scout_query: milliseconds
        .default(60_000)
        .describe('Timeout of one question to a Scout, in milliseconds.'),
    })
    .prefault({})
    .describe('Limits of time.'),
  monorepo: z
    .strictObject({
      package: notBlank.describe('Directory the task is confined to, relative to the repository.'),
    })
    .optional()
    .describe('For a repository of several packages.'),
})

function isFreePlace(path: string): boolean {
  const parts = path.split('/').filter((part) => part !== '' && part !== '.')
  const [top] = parts
  return top !== undefined && !parts.includes('..') && !taken.has(top)
}

const taken = new Set(['workspace', 'artifacts', 'proc', 'sys', 'dev'])
