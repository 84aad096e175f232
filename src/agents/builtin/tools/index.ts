import type { Tool } from '../../../models/contract.ts'
import type { ToolPlace } from './define-tool.ts'
import { editTool } from './edit.ts'
import { listTool } from './list.ts'
import { readTool } from './read.ts'
import { runTool } from './run.ts'
import { searchTool } from './search.ts'
import { writeTool } from './write.ts'

export function createTools(place: ToolPlace): readonly Tool[] {
  return [readTool, listTool, searchTool, writeTool, editTool, runTool].map((create) => create(place))
}
