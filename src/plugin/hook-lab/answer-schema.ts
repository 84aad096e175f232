import { z } from 'zod'

const text = z.string().optional()
const flag = z.boolean().optional()
const mapping = z.record(z.string(), z.unknown()).optional()
const paths = z.array(z.string()).optional()
const context = { additionalContext: text }

/** What an event takes in `hookSpecificOutput`. Keys that are not known do no harm. */
const specific: Readonly<Record<string, z.ZodType>> = {
  PreToolUse: z.looseObject({
    ...context,
    permissionDecision: z.enum(['allow', 'deny', 'ask', 'defer']).optional(),
    permissionDecisionReason: text,
    updatedInput: mapping,
  }),
  UserPromptSubmit: z.looseObject({ ...context, sessionTitle: text, suppressOriginalPrompt: flag }),
  UserPromptExpansion: z.looseObject({ ...context, suppressOriginalPrompt: flag }),
  SessionStart: z.looseObject({
    ...context,
    initialUserMessage: text,
    sessionTitle: text,
    watchPaths: paths,
    reloadSkills: flag,
  }),
  PreModelSwitch: z.looseObject({
    permissionDecision: z.enum(['allow', 'deny', 'ask']).optional(),
    permissionDecisionReason: text,
  }),
  PostToolUse: z.looseObject({ ...context, classifierContext: text }),
  PermissionDenied: z.looseObject({ retry: flag }),
  PermissionRequest: z.looseObject({
    decision: z
      .discriminatedUnion('behavior', [
        z.looseObject({
          behavior: z.literal('allow'),
          updatedInput: mapping,
          updatedPermissions: z.array(z.unknown()).optional(),
        }),
        z.looseObject({ behavior: z.literal('deny'), message: text, interrupt: flag }),
      ])
      .optional(),
  }),
  Elicitation: z.looseObject({
    action: z.enum(['accept', 'decline', 'cancel']).optional(),
    content: mapping,
  }),
  ElicitationResult: z.looseObject({
    action: z.enum(['accept', 'decline', 'cancel']).optional(),
    content: mapping,
  }),
  CwdChanged: z.looseObject({ watchPaths: paths }),
  FileChanged: z.looseObject({ watchPaths: paths }),
  WorktreeCreate: z.looseObject({ worktreePath: text }),
  MessageDisplay: z.looseObject({ displayContent: text }),
}

const answerSchema = z.looseObject({
  continue: flag,
  stopReason: text,
  suppressOutput: flag,
  systemMessage: text,
  terminalSequence: text,
  decision: z.enum(['approve', 'block']).optional(),
  reason: text,
  async: flag,
  asyncTimeout: z.number().optional(),
  hookSpecificOutput: z.looseObject({ hookEventName: z.string() }).optional(),
})

export type JsonAnswer = z.output<typeof answerSchema>

export type CheckedAnswer =
  | { readonly kind: 'valid'; readonly answer: JsonAnswer }
  | { readonly kind: 'invalid'; readonly message: string }
  /** It names another event than the one that happened. */
  | { readonly kind: 'other event'; readonly named: string }

/** Whether Claude Code would take this JSON as the answer to the event. */
export function checkAnswer(event: string, value: unknown): CheckedAnswer {
  const whole = answerSchema.safeParse(value)
  if (!whole.success) return { kind: 'invalid', message: issueLine(whole.error) }
  const { hookSpecificOutput: own } = whole.data
  if (own === undefined) return { kind: 'valid', answer: whole.data }
  if (own.hookEventName !== event) return { kind: 'other event', named: own.hookEventName }
  const schema = Object.hasOwn(specific, event) ? specific[event] : z.looseObject(context)
  const checked = schema?.safeParse(own)
  return checked?.success === false
    ? { kind: 'invalid', message: `hookSpecificOutput.${issueLine(checked.error)}` }
    : { kind: 'valid', answer: whole.data }
}

function issueLine(error: z.ZodError): string {
  const [issue] = error.issues
  return issue === undefined ? 'it does not fit' : `${issue.path.join('.')}: ${issue.message}`
}
