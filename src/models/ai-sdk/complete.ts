import {
  APICallError,
  generateText,
  jsonSchema,
  type LanguageModel,
  Output,
  type ToolSet,
  tool,
  UnsupportedFunctionalityError,
} from 'ai'
import { defined } from '../../core/json-fields.ts'
import type { Completion, CompletionRequest, ResolvedModel, ToolOffer } from '../provider.ts'
import { failureOf, isTooLong } from './failure.ts'
import { type ProviderOptions, toModelMessages } from './messages.ts'
import { completionOf } from './sdk-answer.ts'

/** The settings in which providers differ. */
export interface SdkModel {
  readonly model: LanguageModel
  readonly optionsFor?: (request: CompletionRequest) => ProviderOptions
  /** Cache mark for the system text and the end of a conversation with tools: the provider caches everything before it. */
  readonly cacheMark?: ProviderOptions
  /** Sent with every tool for providers that would otherwise decide themselves whether to enforce the schema. */
  readonly strictTools?: boolean
}

type JsonSchema = Extract<Parameters<typeof jsonSchema>[0], { readonly type?: unknown }>

// The SDK would print warnings about ignored settings to standard error, which belongs to Gantry.
globalThis.AI_SDK_LOG_WARNINGS ??= false

/**
 * One call through the AI SDK. A setting that the model refuses is left out of all later calls: the prompt contains the
 * schema too, and temperature and effort are optional.
 */
export function createComplete(sdk: SdkModel): ResolvedModel['complete'] {
  const dropped = new Set<Droppable>()
  return async (request) => {
    for (;;) {
      const attempt = without(request, dropped)
      try {
        return await generate(sdk, attempt)
      } catch (error) {
        const refused = refusedSetting(error, attempt)
        if (refused !== null) {
          dropped.add(refused)
          continue
        }
        const failure = failureOf(error)
        if (failure === null) throw error
        return failure
      }
    }
  }
}

/** No provider accepts a schema for an answer that is not an object. */
function without(
  { answerSchema, temperature, effort, ...request }: CompletionRequest,
  dropped: ReadonlySet<Droppable>,
): CompletionRequest {
  const sendsSchema = answerSchema?.type === 'object' && !dropped.has('answerSchema')
  return {
    ...request,
    temperature: dropped.has('temperature') ? undefined : temperature,
    ...(sendsSchema && { answerSchema }),
    ...(effort !== undefined && !dropped.has('effort') && { effort }),
  }
}

async function generate(sdk: SdkModel, request: CompletionRequest): Promise<Completion> {
  const { model, cacheMark } = sdk
  const { system, messages, tools = [], answerSchema, maxOutputTokens, temperature, effort, signal } = request
  const result = await generateText({
    model,
    maxRetries: 0,
    telemetry: { isEnabled: false },
    abortSignal: signal,
    maxOutputTokens,
    messages: toModelMessages(messages, tools.length > 0 ? cacheMark : undefined),
    ...defined({ temperature, reasoning: effort }),
    ...(system !== undefined &&
      system !== '' && {
        instructions:
          cacheMark === undefined ? system : { role: 'system', content: system, providerOptions: cacheMark },
      }),
    ...(tools.length > 0 && { tools: toolSet(tools, sdk.strictTools) }),
    ...(answerSchema !== undefined && { output: jsonText(answerSchema) }),
    ...(sdk.optionsFor !== undefined && { providerOptions: sdk.optionsFor(request) }),
  })
  return completionOf(result, request)
}

/** Tools without an `execute` function: the loop runs them. */
function toolSet(offers: readonly ToolOffer[], strict: boolean | undefined): ToolSet {
  return Object.fromEntries(
    offers.map(({ name, description, inputSchema }) => [
      name,
      tool(defined({ description, inputSchema: jsonSchema(inputSchema as JsonSchema), strict })),
    ]),
  )
}

/** Sends the schema to the provider but returns the answer as text. The caller repairs an answer that does not match. */
function jsonText(schema: Readonly<Record<string, unknown>>): ReturnType<typeof Output.text> {
  return { ...Output.text(), responseFormat: Promise.resolve({ type: 'json', schema: schema as JsonSchema }) }
}

/** Settings that a call can do without. */
type Droppable = 'answerSchema' | 'temperature' | 'effort'

const ofSchema = /schema|response_?format|output_?(?:format|config)|text\.format|tool_choice|response_?mime/i
const ofEffort = /effort|thinking|reasoning/i

/** The setting that the model refuses; null when the failure has another cause. */
export function refusedSetting(
  error: unknown,
  { answerSchema, temperature, effort }: Pick<CompletionRequest, Droppable>,
): Droppable | null {
  const said = complaint(error)
  if (said === null) return null
  if (temperature !== undefined && /temperature/i.test(said)) return 'temperature'
  // A schema may have a key with this name, and in Anthropic's requests effort is next to the schema.
  if (effort !== undefined && ofEffort.test(said) && !/schema/i.test(said)) return 'effort'
  if (answerSchema !== undefined && ofSchema.test(said)) return 'answerSchema'
  return null
}

function complaint(error: unknown): string | null {
  if (UnsupportedFunctionalityError.isInstance(error)) return `${error.functionality} ${error.message}`
  if (!APICallError.isInstance(error) || (error.statusCode !== 400 && error.statusCode !== 422)) return null
  const said = `${error.message} ${error.responseBody ?? ''}`
  return isTooLong(said) ? null : said
}
