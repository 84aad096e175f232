import { z } from 'zod'
import { GantryError } from '../../core/error.ts'
import { marker } from '../../core/redact/replace-spans.ts'
import { isFile } from '../../io/path-kind.ts'
import { type PluginConfig, pluginConfigSchema } from '../config/keys/schema.ts'
import { arms } from '../contract.ts'
import type { EvaluationState } from '../state/evaluation-state.ts'
import { type EvaluationFiles, readWhole } from './evaluation-files.ts'
import type { EvaluationRequest } from './evaluation-work.ts'

const storedSchema = z.object({
  config: pluginConfigSchema,
  crowd: z.array(z.string()),
  arms: z.array(z.enum(arms)).min(1),
  filters: z.array(z.string()),
  allow_scaffold: z.boolean(),
})

/** `config.json`: the request, stored with the run. */
export type StoredRequest = Readonly<z.output<typeof storedSchema>>

export function toStoredRequest({
  config,
  target,
  filters,
  allowScaffold,
}: EvaluationRequest): StoredRequest {
  return {
    config,
    crowd: [...target.crowd],
    arms: [...target.arms],
    filters: [...filters],
    allow_scaffold: allowScaffold,
  }
}

export interface ReadRequestOptions {
  readonly files: EvaluationFiles
  readonly state: EvaluationState
  /** An older version kept the request inside its state, in another format: then today's defaults apply. */
  readonly isOlder: boolean
  readonly env: Readonly<Record<string, string | undefined>>
}

/** The stored request of a run. Throws GantryError CORRUPT when it is missing or damaged. */
export function readStoredRequest({ files, state, isOlder, env }: ReadRequestOptions): EvaluationRequest {
  const kept = read(files, isOlder)
  return {
    config: withSecrets(kept.config, env),
    target: { path: state.plugin_path, crowd: kept.crowd, arms: kept.arms },
    until: state.until,
    replay: state.replay,
    cassettes: state.cassettes,
    allowScaffold: kept.allow_scaffold,
    filters: kept.filters,
  }
}

function read({ config: path }: EvaluationFiles, isOlder: boolean): StoredRequest {
  const isThere = isFile(path)
  if (!isThere && isOlder)
    return {
      config: pluginConfigSchema.parse({}),
      crowd: [],
      arms: ['alone'],
      filters: [],
      allow_scaffold: false,
    }
  const parsed = storedSchema.safeParse(readWhole(path))
  if (parsed.success) return parsed.data
  throw new GantryError('CORRUPT', `${path} is ${isThere ? 'damaged' : 'missing'}`, {
    hint: 'The request is not stored anywhere else: start a new run with gantry plugin run.',
    at: { file: path },
    cause: parsed.error,
  })
}

/** Secrets were redacted before the configuration was stored, so a resumed run takes them from the environment. */
function withSecrets(config: PluginConfig, env: ReadRequestOptions['env']): PluginConfig {
  const variables = Object.entries(config.execution.env).map(([name, value]): [string, string] => {
    if (!value.includes(marker)) return [name, value]
    const again = env[name]
    if (again !== undefined && again !== '') return [name, again]
    throw new GantryError('USAGE', `execution.env.${name} was redacted when the run was stored`, {
      hint: `Export ${name} with its value, and resume again.`,
    })
  })
  return { ...config, execution: { ...config.execution, env: Object.fromEntries(variables) } }
}

/** The stored configuration, for reporting. Defaults when it cannot be read; whether the run can be resumed is checked elsewhere. */
export function storedConfig({ config: path }: Pick<EvaluationFiles, 'config'>): PluginConfig {
  const kept = readWhole(path)
  const parsed = pluginConfigSchema.safeParse(kept !== null && 'config' in kept ? kept.config : {})
  return parsed.success ? parsed.data : pluginConfigSchema.parse({})
}
