import { playChanges } from './change-story.ts'

playChanges('cheats', ['--sandbox', 'bubblewrap'], { part: 'some' })
