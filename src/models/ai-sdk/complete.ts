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
import type { Completion, CompletionRequest, ResolvedModel, ToolOffer } from '../provider.ts'
import { failureOf, isTooLong } from './failure.ts'
import { type ProviderOptions, toModelMessages } from './messages.ts'
import { completionOf } from './turn.ts'

/** What the providers differ in. */
export interface SdkModel {
  readonly model: LanguageModel
  readonly optionsFor?: (request: CompletionRequest) => ProviderOptions
  /** Put on the system text and on the end of a conversation with tools: the provider keeps what stands before it. */
  readonly cacheMark?: ProviderOptions
  /** Sent with every tool, where the provider would else choose for itself whether to hold the model to the schema. */
  readonly strictTools?: boolean
}

type JsonSchema = Extract<Parameters<typeof jsonSchema>[0], { readonly type?: unknown }>

// What a provider ignores is no news for whoever reads the screen, and standard error is not the SDK's.
globalThis.AI_SDK_LOG_WARNINGS ??= false

/**
 * One call through the AI SDK. A setting that the model turns out to refuse is left out from then on: the prompt asks for
 * the schema too, and temperature and effort are wishes.
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

/** No provider takes a schema for an answer that is no object. */
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
    ...(temperature !== undefined && { temperature }),
    ...(effort !== undefined && { reasoning: effort }),
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

/** Tools without a way to run: the loop runs them. */
function toolSet(offers: readonly ToolOffer[], strict: boolean | undefined): ToolSet {
  return Object.fromEntries(
    offers.map(({ name, description, inputSchema }) => [
      name,
      tool({
        description,
        inputSchema: jsonSchema(inputSchema as JsonSchema),
        ...(strict !== undefined && { strict }),
      }),
    ]),
  )
}

/** Holds the provider to the schema but leaves the answer as text: what does not fit is repaired by whoever asked. */
function jsonText(schema: Readonly<Record<string, unknown>>): ReturnType<typeof Output.text> {
  return {
    ...Output.text(),
    responseFormat: Promise.resolve({ type: 'json', schema: schema as JsonSchema }),
  }
}

/** What a call can do without. */
type Droppable = 'answerSchema' | 'temperature' | 'effort'

const ofSchema = /schema|response_?format|output_?(?:format|config)|text\.format|tool_choice|response_?mime/i
const ofEffort = /effort|thinking|reasoning/i

/** Which setting of the request the model refuses, so that the call would work without it; null when it is none. */
export function refusedSetting(
  error: unknown,
  { answerSchema, temperature, effort }: Pick<CompletionRequest, Droppable>,
): Droppable | null {
  const said = complaint(error)
  if (said === null) return null
  if (temperature !== undefined && /temperature/i.test(said)) return 'temperature'
  // A schema may have a key of that name, and effort stands beside the schema in Anthropic's requests.
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
