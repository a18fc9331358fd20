// The libraries as far as the pages use them.

declare module "*/lib/uplot.js" {
  const uPlot: any;
  export default uPlot;
}

declare module "*/lib/echarts.js" {
  export const aS: any;
}

declare module "*/lib/dagre.js" {
  export function layout(nodes: object[], edges: object[], options: object, state: object): void;
}
