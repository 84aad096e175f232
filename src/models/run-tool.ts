import type { Tool, ToolAnswer } from './contract.ts'
import type { ToolRequest } from './provider.ts'

/**
 * Does what the model asked for. Whatever goes wrong is an answer the model can learn from: a tool that is not there, an
 * input that does not fit, a tool that throws. Never rejects.
 */
export async function runTool(
  tools: readonly Tool[],
  { id, name, input }: ToolRequest,
  signal: AbortSignal,
): Promise<ToolAnswer> {
  const tool = tools.find((one) => one.name === name)
  if (tool === undefined)
    return failed(
      `There is no tool ${JSON.stringify(name)}. There are: ${tools.map((one) => one.name).join(', ')}.`,
    )
  const { z } = await import('zod')
  try {
    const checked = await tool.input.safeParseAsync(input)
    if (!checked.success) return failed(`The input does not fit:\n${z.prettifyError(checked.error)}`)
    return await tool.run(checked.data, { id, signal })
  } catch (error) {
    return failed(error instanceof Error ? error.message : String(error))
  }
}

function failed(output: string): ToolAnswer {
  return { output, isError: true }
}
