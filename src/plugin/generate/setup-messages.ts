import { z } from 'zod'
import type { SetupMessage } from './contract.ts'

const most = 20

const messageSchema = z.object({
  role: z.preprocess(
    (role) => (role === 'human' ? 'user' : role === 'ai' ? 'assistant' : role),
    z.enum(['user', 'assistant']),
  ),
  content: z.string().trim().min(1),
})

const messagesSchema = z.array(messageSchema).min(1).max(most)

/** The conversation before a proactive scenario; null when there is none that could have happened: it begins with the person. */
export function setupMessages(given: unknown, context?: string): readonly SetupMessage[] | null {
  const read = messagesSchema.safeParse(given)
  if (read.success) return read.data[0]?.role === 'user' ? read.data : null
  return context === undefined || context === '' ? null : [{ role: 'user', content: context }]
}
