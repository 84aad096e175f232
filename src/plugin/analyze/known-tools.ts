/** Tools of Claude Code up to 2.1.325, including older names that it still understands. Tools of MCP servers are not included. */
export const knownTools: readonly string[] =
  `Agent Artifact AskUserQuestion Bash BashOutput CronCreate CronDelete CronList Edit EnterPlanMode
  EnterWorktree ExitPlanMode ExitWorktree Glob Grep KillBash KillShell ListAgents ListMcpResourcesTool LS
  LSP Monitor MultiEdit NotebookEdit NotebookRead PowerShell Read ReadMcpResourceTool ReportFindings
  ScheduleWakeup SendMessage Skill SlashCommand Task TaskCreate TaskGet TaskList TaskOutput TaskStop
  TaskUpdate TeamCreate TeamDelete TodoRead TodoWrite ToolSearch WebFetch WebSearch Workflow Write`.split(
    /\s+/,
  )

export function isServerTool(name: string): boolean {
  return name.startsWith('mcp__')
}
