import { resolve } from 'node:path'
import { z } from 'zod'
import { GantryError } from '../core/error.ts'
import { createRedaction } from '../core/redaction.ts'
import { callback, checkOptions, optionFields } from '../io/check-options.ts'
import { homeDirectory, temporaryRoot } from '../io/host.ts'
import {
  type ExchangeFacts,
  endpointVariables,
  type ModelEndpoint,
  type SessionReport,
} from '../models/boundary/contract.ts'
import { parseFault } from '../models/boundary/faults.ts'
import { type ModelSource, replayModes } from '../models/boundary/model-link.ts'
import { openBoundary as openServer } from '../models/boundary/open-boundary.ts'
import { openModelLink } from '../models/boundary/open-model-link.ts'
import { boundaryScriptSchema, readBoundaryScript } from '../models/boundary/script/schema.ts'
import { upstreamFrom } from '../models/boundary/upstream.ts'

const optionsSchema = z.strictObject({
  /**
   * What answers in place of the model: a boundary script, as the path of its file or as its content. Default: the providers that the
   * variables of `env` lead to.
   */
  script: z.union([z.string(), z.record(z.string(), z.unknown())]).optional(),
  /** The directory of recorded traffic. Needed for every `replay` but `off`. */
  cassette: z.string().optional(),
  /** `record`, `strict` (only recorded traffic), `auto` (record what is missing) or `off`, the default. */
  replay: z.enum(replayModes).optional(),
  /** Calls to break, as in `--fault`: `429@0`, `529%20`, `cut@2:3`. */
  faults: z.array(z.string()).readonly().optional(),
  /** Later calls are refused. */
  maxCostUsd: z.number().positive().optional(),
  /** The working directory of the program that calls the model: it differs between recording and replaying. Default: this one's. */
  workspace: z.string().optional(),
  /** Default: that of this process. */
  env: optionFields.env,
  onExchange: callback<(exchange: ExchangeFacts) => void>(),
})

export type OpenBoundaryOptions = Readonly<z.output<typeof optionsSchema>>

export interface OpenedBoundary extends AsyncDisposable {
  readonly endpoint: ModelEndpoint
  /** Variables that make clients of Anthropic, OpenAI and Google use the endpoint. */
  readonly env: Readonly<Record<string, string>>
  /** Aborted when continuing is pointless: the cap is reached, or a strict replay got an unknown call. */
  readonly stopped: AbortSignal
  /** Waits for running calls and ends the server. With `keep: false` nothing that was recorded is kept. */
  close(end?: { readonly keep?: boolean }): Promise<SessionReport>
}

/** Opens a server on loopback that answers calls to models from a script, a cassette or the provider. */
export async function openBoundary(options: OpenBoundaryOptions = {}): Promise<OpenedBoundary> {
  checkOptions('openBoundary', optionsSchema, options)
  const { replay = 'off', cassette, env = process.env, workspace = process.cwd(), faults = [] } = options
  if (replay !== 'off' && cassette === undefined)
    throw new GantryError('USAGE', `replay: '${replay}' needs a cassette`, {
      hint: 'Name the directory of the recorded traffic as cassette.',
    })
  const source = sourceOf(options.script, env)
  const server = await openServer()
  try {
    const session = openModelLink(
      server,
      { source, replay },
      {
        places: { workspace, home: homeDirectory(env), tmp: temporaryRoot(env) },
        cassette: resolve(cassette ?? '.'),
        redact: createRedaction([], env).text,
        facts: {},
        prices: {},
        ...(options.maxCostUsd !== undefined && { maxCostUsd: options.maxCostUsd }),
        ...(faults.length > 0 && { faults: { faults: faults.map(parseFault), seed: 0 } }),
        ...(options.onExchange !== undefined && { onExchange: options.onExchange }),
      },
    )
    let closing: Promise<SessionReport> | null = null
    const close = ({ keep = true }: { readonly keep?: boolean } = {}): Promise<SessionReport> => {
      closing ??= session.finish({ keep }).finally(() => server.close())
      return closing
    }
    return {
      endpoint: session.endpoint,
      env: endpointVariables(session.endpoint),
      stopped: session.stopped,
      close,
      [Symbol.asyncDispose]: async () => {
        await close()
      },
    }
  } catch (error) {
    await server.close()
    throw error
  }
}

function sourceOf(
  script: OpenBoundaryOptions['script'],
  env: Readonly<Record<string, string | undefined>>,
): ModelSource {
  if (script === undefined) return { kind: 'provider', upstream: upstreamFrom(env) }
  if (typeof script === 'string') return { kind: 'script', script: readBoundaryScript(resolve(script)) }
  const read = boundaryScriptSchema.safeParse(script)
  if (read.success) return { kind: 'script', script: read.data }
  throw new GantryError('USAGE', `the script of the boundary is invalid: ${read.error.issues[0]?.message}`, {
    hint: 'docs/boundary.md describes scripts.',
    cause: read.error,
  })
}
