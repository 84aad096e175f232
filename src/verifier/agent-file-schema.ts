import { z } from 'zod'
import { redirected } from './artifacts.ts'
import { parseSize } from './parse-size.ts'

const defaults = {
  workspace: 'readonly',
  network: 'none',
  limits: { memory: '8g', cpus: 4, pids: 1024 },
  verificationStepMs: 300_000,
  scoutQueryMs: 60_000,
} as const

/** The longest wait of a system timer. */
const maxTimeoutMs = 2_147_483_647

/** The Verifier sets these, because it makes the directories for them. */
const reservedVariables = Object.keys(redirected)

const notBlank = z.string().regex(/\S/, 'must be a non-empty string')

const milliseconds = z.int().positive().max(maxTimeoutMs)

const variableName = z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'is no name of a variable')

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
    z.string().regex(/^\d+(\.\d+)?\s*([kmgt]i?)?b?$/i, 'is no size such as 256m, 8g or 1.5g'),
  ])
  .refine((size) => parseSize(size) >= 1024 * 1024, 'must be at least 1m')

const { limits } = defaults

const limitsSchema = z
  .strictObject({
    memory: sizeSchema
      .default(limits.memory)
      .describe('Memory of everything a step starts: 256m, 1.5g, or bytes.'),
    cpus: z.number().positive().max(4096).default(limits.cpus).describe('Processors; a part of one is fine.'),
    pids: z
      .int()
      .positive()
      .max(4_194_304)
      .default(limits.pids)
      .describe('Processes and threads at one time.'),
  })
  .prefault({})
  .describe('What all steps together may use at one time.')

const stepSchema = z.strictObject({
  name: notBlank.describe('For people; any characters.'),
  command: notBlank
    .regex(/^[^\0]*$/, 'must not contain a NUL character')
    .describe('Run with `sh -c` in /workspace.'),
  timeout: milliseconds
    .optional()
    .describe('Milliseconds until the step is ended with exit code 124; else timeouts.verification_step.'),
})

const cacheSchema = z.strictObject({
  name: z
    .string()
    .regex(/^[a-z0-9][a-z0-9._-]{0,63}$/, 'must be 1 to 64 of a-z, 0-9, ".", "_", "-"')
    .describe('Which cache: the same name in a later run of this repository is the same directory.'),
  path: z
    .string()
    .regex(/^\/[^\0]*$/, 'must be an absolute path inside the sandbox')
    .refine(isFreePlace, 'is taken: choose a place outside /workspace, /artifacts, /proc, /sys and /dev')
    .describe('Absolute path inside the sandbox.'),
})

const verificationSchema = z.strictObject({
  container_image: notBlank.describe(
    'Image the steps run in; engines without images use the machine itself.',
  ),
  steps: z.array(stepSchema).min(1).describe('Run in order; the first that fails ends the run.'),
  workspace: z
    .enum(['readonly', 'overlay'])
    .default(defaults.workspace)
    .describe('`overlay`: steps may write to /workspace, and what they write is thrown away.'),
  network: z.enum(['none', 'allow']).default(defaults.network).describe('Whether steps reach the network.'),
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
    .describe('Directories for downloads that outlive runs.'),
})

/** agent.yaml, in the root of the repository. */
export const agentFileSchema = z.strictObject({
  verification: verificationSchema.describe('How the project is verified.'),
  timeouts: z
    .strictObject({
      verification_step: milliseconds
        .default(defaults.verificationStepMs)
        .describe('Of one step, in milliseconds.'),
      scout_query: milliseconds
        .default(defaults.scoutQueryMs)
        .describe('Of one question to a Scout, in milliseconds.'),
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
