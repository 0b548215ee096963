import importlib.util as u; f=u.find_spec; u.find_spec=lambda n,*a: None if n.startswith("torchvision") else f(n,*a)
import torch
from transformers import __version__
from transformers.models.qwen3_moe.configuration_qwen3_moe import Qwen3MoeConfig
from transformers.models.qwen3_moe.modeling_qwen3_moe import Qwen3MoeSparseMoeBlock
print(__version__)
torch.set_default_dtype(torch.float64)
T,D,E,K,I=5,4,3,2,2
def ramp(shape,a,b):
    n=1
    for s in shape: n*=s
    return torch.sin(a*torch.arange(n,dtype=torch.float64)+b).reshape(shape)
c=Qwen3MoeConfig(hidden_size=D,moe_intermediate_size=I,num_experts=E,num_experts_per_tok=K,norm_topk_prob=True,hidden_act='silu')
m=Qwen3MoeSparseMoeBlock(c).double()
print([ (n,tuple(p.shape)) for n,p in m.named_parameters()])
router=ramp((E,D),.9,1); gate=ramp((E,I,D),1.3,.2); up=ramp((E,I,D),.7,.5); down=ramp((E,D,I),1.1,.8)
with torch.no_grad():
    m.gate.weight.copy_(router)
    m.experts.gate_up_proj.copy_(torch.cat([gate,up],1)); m.experts.down_proj.copy_(down)
x=ramp((T,D),1.7,.3).requires_grad_()
y=m(x[None])
if isinstance(y,tuple): y=y[0]
y=y[0]
y.backward(ramp((T,D),2.3,.1))
def show(n,t): print(n,', '.join(f'{v:.10g}' for v in t.flatten().tolist()))
show('y',y.detach()); show('x',x.grad); show('router',m.gate.weight.grad)
gu=m.experts.gate_up_proj.grad; show('gate',gu[:,:I]); show('up',gu[:,I:]); show('down',m.experts.down_proj.grad)
print(torch.topk(torch.softmax(x.detach()@router.T,-1),K))
